import Hummingbird
import NIOCore

/// A body on its way into one array.
struct BodyCollector {
    private var iterator: RequestBody.AsyncIterator
    private let limit: Int
    private let announced: Int?
    private let share: BodyReservation
    private var bytes: [UInt8] = []

    init(body: RequestBody, limit: Int, announced: Int?, padding: Int, share: BodyReservation) {
        iterator = body.makeAsyncIterator()
        self.limit = limit
        self.announced = announced
        self.share = share
        // Memory is taken for what arrives, not for what is announced.
        bytes.reserveCapacity(min(announced ?? 0, 64 * 1_024) + padding)
    }

    /// Takes the next chunk. True when the body is complete.
    mutating func readOne() async throws -> Bool {
        guard let chunk = try await next() else { return true }
        guard bytes.count + chunk.readableBytes <= limit else { throw Problem.payloadTooLarge(limit: limit) }
        guard share.take(chunk.readableBytes) else { throw Problem.overloaded() }
        chunk.withUnsafeReadableBytes { bytes.append(contentsOf: $0) }
        return bytes.count == announced
    }

    /// Whatever error a connection breaks off with, it is the caller's doing and no failure of ours (500, an error in the log for each).
    private mutating func next() async throws -> ByteBuffer? {
        do {
            return try await iterator.next(isolation: #isolation)
        } catch let fault as ProtocolFault {
            throw fault.problem
        } catch  where !(error is CancellationError || error is any HTTPResponseError) {
            throw Problem.incompleteBody()
        }
    }

    /// The bytes, if they are as many as announced: a connection that ends early ends the sequence without an error.
    func finish() throws(Problem) -> [UInt8] {
        if let announced, bytes.count != announced { throw .incompleteBody() }
        return bytes
    }
}
