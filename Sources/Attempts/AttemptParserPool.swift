import Synchronization

/// Parsers with their buffers, lent to one request at a time.
///
/// `@unchecked Sendable`: a parser is in the pool or with one borrower, never both.
final class AttemptParserPool: @unchecked Sendable {
    private let lock = Mutex(())
    private var idle: [AttemptParser] = []
    /// More than run at once are not kept: their buffers are as large as the largest body they read.
    private let limit = 8

    func withParser<Value>(_ body: (AttemptParser) throws -> Value) rethrows -> Value {
        let parser = lock.withLock { _ in idle.popLast() } ?? AttemptParser()
        defer { lock.withLock { _ in if idle.count < limit { idle.append(parser) } } }
        return try body(parser)
    }
}
