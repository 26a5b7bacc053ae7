import HTTPTypes
package import Hummingbird
import ServiceKit

/// Reads a request's body under limits and undoes gzip.
///
/// Throws `Problem`: 408 too slow, 413 too large, 415 another coding, 400 damaged or cut off, 503 when the bodies of all requests
/// together fill their budget. Memory used is at most the two limits, and over all requests at most the budget. A body counts until the
/// function that reads it returns.
package struct BodyReader: Sendable {
    let limits: BodyLimits
    private let clock: any Clock<Duration>
    private let budget: BodyBudget

    package init(
        limits: BodyLimits = BodyLimits(),
        clock: any Clock<Duration> = ContinuousClock(),
        budget: BodyBudget = .process
    ) {
        self.limits = limits
        self.clock = clock
        self.budget = budget
    }

    /// The body's bytes.
    package func read(_ request: Request) async throws -> [UInt8] {
        try await read(request, padding: 0, BodyReservation(of: budget))
    }

    /// What `use` returns for what `parse` makes of the body's bytes. Small bodies, as nearly all are, are parsed at once, without a change
    /// of threads; large ones by `LargeBodyQueue`.
    ///
    /// - Parameters:
    ///   - padding: zeros to put behind the body's bytes (simdjson reads past the end).
    ///   - parsedSize: how many times its bytes what `parse` makes of a large body takes; counts against the budget, too.
    package func read<Value: Sendable, Output>(
        _ request: Request,
        padding: Int = 0,
        parsedSize: Int = 0,
        parse: @escaping @Sendable ([UInt8]) throws -> Value,
        use: (Value) async throws -> Output
    ) async throws -> Output {
        let share = BodyReservation(of: budget)
        defer { withExtendedLifetime(share) {} }
        return try await use(try await parsed(request, padding: padding, parsedSize: parsedSize, share, parse))
    }

    /// In a function of its own, so that the bytes are gone when the value is used.
    private func parsed<Value: Sendable>(
        _ request: Request,
        padding: Int,
        parsedSize: Int,
        _ share: BodyReservation,
        _ parse: @escaping @Sendable ([UInt8]) throws -> Value
    ) async throws -> Value {
        let bytes = try await read(request, padding: padding, share)
        guard bytes.count - padding > LargeBodyQueue.threshold else { return try parse(bytes) }
        guard share.take((bytes.count - padding) * parsedSize) else { throw Problem.overloaded() }
        return try await LargeBodyQueue.process.run { try parse(bytes) }
    }

    private func read(_ request: Request, padding: Int, _ share: BodyReservation) async throws -> [UInt8] {
        let coding = try Self.coding(of: request)
        let limit = coding == .gzip ? limits.compressed : limits.inflated
        let announced = try Self.announcedLength(of: request, limit: limit)
        // Before a byte is read: who is refused should not have had to send it.
        if let announced, !budget.hasSpace(for: announced) { throw Problem.overloaded() }
        var bytes = try await collect(request.body, limit: limit, announced: announced, padding: padding, share: share)
        if coding == .gzip { bytes = try inflate(bytes, share) }
        bytes.append(contentsOf: repeatElement(0, count: padding))
        return bytes
    }

    enum Coding { case identity, gzip }

    /// Stacked codings are refused: each layer would multiply what a small body can become.
    static func coding(of request: Request) throws(Problem) -> Coding {
        let values = request.headers[values: .contentEncoding]
        guard values.count <= 1 else { throw .unsupportedEncoding() }
        switch MediaType.essence(values.first) {
        case nil, "identity": return .identity
        case "gzip", "x-gzip": return .gzip
        default: throw .unsupportedEncoding()
        }
    }

    /// `Content-Length`, refused before a byte is read when it is over the limit.
    static func announcedLength(of request: Request, limit: Int) throws(Problem) -> Int? {
        guard let header = request.headers.value(of: .contentLength) else { return nil }
        guard let length = Int(header), length >= 0 else { throw .badRequest("Content-Length is not a number of bytes.") }
        guard length <= limit else { throw .payloadTooLarge(limit: limit) }
        return length
    }

    private func inflate(_ bytes: [UInt8], _ share: BodyReservation) throws(Problem) -> [UInt8] {
        do {
            return try Gzip.inflate(bytes, limit: limits.inflated, mayGrow: share.take)
        } catch {
            throw BodyReader.problem(of: error, limit: limits.inflated)
        }
    }

    /// Too little memory here is never the sender's fault.
    static func problem(of failure: Gzip.Failure, limit: Int) -> Problem {
        switch failure {
        case .tooLarge: .payloadTooLarge(limit: limit, inflated: true)
        case .truncated: .malformedEncoding("The gzip body is cut off. Send it whole.")
        case .damaged: .malformedEncoding("The body is not valid gzip: wrong header, wrong checksum, or bytes after its end.")
        case .unavailable, .noSpace: .overloaded()
        }
    }

    private func collect(
        _ body: RequestBody,
        limit: Int,
        announced: Int?,
        padding: Int,
        share: BodyReservation
    ) async throws -> [UInt8] {
        var collector = BodyCollector(body: body, limit: limit, announced: announced, padding: padding, share: share)
        // Nearly every body is one chunk that is already here; a timer for each would cost more than reading it
        // (a cancelled sleep stays in the timer heap until it is due). A peer that sends no first chunk at all is
        // closed by the connection's idle timeout.
        if try await collector.readOne() { return try collector.finish() }
        defer { WorkDeadline.current?.restart() }
        return try await race(collector)
    }

    private func race(_ collector: BodyCollector) async throws -> [UInt8] {
        let transfer = UncheckedTransfer(collector: collector)
        let clock = clock
        let deadline = limits.deadline
        return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                var collector = transfer.collector
                while try await !collector.readOne() {}
                return try collector.finish()
            }
            group.addTask {
                try await clock.sleep(for: deadline)
                return nil
            }
            defer { group.cancelAll() }
            guard let bytes = try await group.next() ?? nil else { throw Problem.bodyTimeout(deadline) }
            return bytes
        }
    }
}

/// Carries the collector to the one child task that goes on reading.
///
/// Unchecked, since a body's iterator is not Sendable: the task that made it never touches it again, and waits for the child.
private struct UncheckedTransfer: @unchecked Sendable {
    let collector: BodyCollector
}
