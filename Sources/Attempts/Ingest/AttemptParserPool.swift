import HTTPServer
import Synchronization

/// Parsers with their buffers, lent to one request at a time.
///
/// `@unchecked Sendable`: a parser is in the pool or with one borrower, never both.
final class AttemptParserPool: @unchecked Sendable {
    private let lock = Mutex(())
    private var idle: [AttemptParser] = []
    /// More than run at once are not kept.
    private let limit = 8

    /// A large body makes a parser's buffers large (thirteen bytes for each of the body's), so such a parser is not kept.
    ///
    /// - Parameter bytes: the length of what is to be parsed.
    func withParser<Value>(forBytes bytes: Int, _ body: (AttemptParser) throws -> Value) rethrows -> Value {
        if bytes > LargeBodyQueue.threshold { return try body(AttemptParser()) }
        let parser = lock.withLock { _ in idle.popLast() } ?? AttemptParser()
        defer { lock.withLock { _ in if idle.count < limit { idle.append(parser) } } }
        return try body(parser)
    }
}
