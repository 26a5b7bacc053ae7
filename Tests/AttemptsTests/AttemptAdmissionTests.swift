import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

@testable import Attempts

@Suite("Requests that would not fit are refused before their body is read")
struct AttemptAdmissionTests {
    @Test("a full queue answers 503 with Retry-After and does not read a byte")
    func full() async throws {
        try await withDatabase { pool in
            var limits = IngestLimits()
            limits.waitingRows = 1
            // No writer runs, so what is submitted waits.
            let maintenance = PartitionMaintenance(pool: pool, logger: .silent)
            let ingestor = AttemptIngestor(pool: pool, maintenance: maintenance, limits: limits, logger: .silent)
            let batch = try Sample.batch([Sample.attempt()])
            let waiting = Task { try await ingestor.submit(batch) }
            try await eventually("it waits") { (try? ingestor.checkAdmission(bodyBytes: 1)) == nil }

            let routes = AttemptRoutes(ingestor: ingestor, store: AttemptStore(pool), checkStore: AttemptStore(pool))
            let request = Request(
                head: HTTPRequest(
                    method: .post,
                    scheme: nil,
                    authority: nil,
                    path: "/attempts",
                    headerFields: [.contentType: "application/json", .contentLength: "1000"]
                ),
                body: .init(asyncSequence: UnreadableBody())
            )
            let problem = await #expect(throws: Problem.self) { try await routes.post(request, requestId: "r") }
            #expect(problem?.status == .serviceUnavailable)
            #expect(problem?.code == "overloaded")
            #expect(problem?.retryAfter != nil)
            let running = Task { try await ingestor.run() }
            _ = await waiting.result
            running.cancel()
            _ = await running.result
        }
    }
}

/// A body that must not be touched.
private struct UnreadableBody: AsyncSequence, Sendable {
    struct Touched: Error {}
    struct Iterator: AsyncIteratorProtocol {
        mutating func next() async throws -> ByteBuffer? {
            Issue.record("the body was read")
            throw Touched()
        }
    }
    func makeAsyncIterator() -> Iterator { Iterator() }
}
