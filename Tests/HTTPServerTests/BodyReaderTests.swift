import HTTPTypes
import Hummingbird
import NIOCore
import TestSupport
import Testing

@testable import HTTPServer

/// A clock whose sleeps end at once: every deadline has passed.
struct ElapsedClock: Clock {
    typealias Instant = ContinuousClock.Instant
    var now: Instant { ContinuousClock.now }
    var minimumResolution: Duration { .zero }
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
}

@Suite struct BodyReaderTests {
    private let limits = BodyLimits(compressed: 64, inflated: 256, deadline: .seconds(3_600))

    private func request(_ chunks: [[UInt8]], _ headers: HTTPFields = [:]) -> Request {
        let stream = AsyncStream<ByteBuffer> { continuation in
            for chunk in chunks { continuation.yield(ByteBuffer(bytes: chunk)) }
            continuation.finish()
        }
        return Request(
            head: HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/", headerFields: headers),
            body: .init(asyncSequence: stream)
        )
    }

    private func problem(_ request: Request) async -> String? {
        do {
            _ = try await BodyReader(limits: limits).read(request)
            return nil
        } catch {
            return (error as? Problem)?.code ?? "\(error)"
        }
    }

    /// With padding, as it is parsed.
    private func padded(_ request: Request) async throws -> [UInt8] {
        try await BodyReader(limits: limits).read(request, padding: 64) {
            $0
        } use: {
            $0
        }
    }

    @Test("chunks become one array, with zeros behind it if asked for")
    func chunks() async throws {
        #expect(try await padded(request([[1, 2], [3], [4, 5]])) == [1, 2, 3, 4, 5] + [UInt8](repeating: 0, count: 64))
        #expect(try await BodyReader(limits: limits).read(request([[1, 2]], [.contentLength: "2"])) == [1, 2])
        #expect(try await BodyReader(limits: limits).read(request([])) == [])
    }

    @Test("gzip is undone")
    func inflates() async throws {
        let plain = [UInt8](repeating: 65, count: 256)
        let body = gzip(plain)
        #expect(try await padded(request([body], [.contentEncoding: "GZIP"])) == plain + [UInt8](repeating: 0, count: 64))
    }

    @Test("bodies over a limit are refused: announced, arriving, compressed, inflated")
    func limitsHold() async {
        #expect(await problem(request([], [.contentLength: "257"])) == "payload_too_large")
        #expect(await problem(request([[UInt8](repeating: 0, count: 200), [UInt8](repeating: 0, count: 57)])) == "payload_too_large")
        #expect(await problem(request([[UInt8](repeating: 0, count: 65)], [.contentEncoding: "gzip"])) == "payload_too_large")
        let bomb = gzip([UInt8](repeating: 0, count: 257))
        #expect(await problem(request([bomb], [.contentEncoding: "gzip"])) == "payload_too_large")
    }

    @Test("other codings, stacked codings and damage are refused")
    func codings() async {
        for coding in ["br", "deflate", "gzip, gzip", "gzip,identity"] {
            #expect(await problem(request([[1]], [.contentEncoding: coding])) == "unsupported_encoding")
        }
        #expect(await problem(request([[1]], [.contentEncoding: "gzip"])) == "malformed_encoding")
        #expect(await problem(request([gzip([1, 2, 3]).dropLast()], [.contentEncoding: "gzip"])) == "malformed_encoding")
        #expect(await problem(request([[1]], [.contentLength: "x"])) == "bad_request")
    }

    @Test("a body that ends before its announced length is incomplete")
    func cut() async {
        #expect(await problem(request([[1], [2]], [.contentLength: "3"])) == "incomplete_body")
    }

    @Test("a body whose connection breaks off is incomplete, and no failure of the server: before the first byte, amid it, after a chunk")
    func brokenOff() async {
        struct StreamEnded: Error {}
        for (chunks, headers): (Int, HTTPFields) in [(0, [:]), (0, [.contentLength: "3"]), (1, [.contentLength: "3"]), (2, [:])] {
            let stream = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
                for chunk in 0..<chunks { continuation.yield(ByteBuffer(bytes: [UInt8(chunk)])) }
                continuation.finish(throwing: StreamEnded())
            }
            let head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/", headerFields: headers)
            #expect(await problem(Request(head: head, body: .init(asyncSequence: stream))) == "incomplete_body", "\(chunks) chunks")
        }
    }

    @Test("a body that drips past the deadline is 408")
    func deadline() async throws {
        let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream()
        continuation.yield(ByteBuffer(bytes: [1]))
        let request = Request(head: HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/"), body: .init(asyncSequence: stream))
        let reader = BodyReader(limits: limits, clock: ElapsedClock())
        let problem = await #expect(throws: Problem.self) { try await reader.read(request) }
        #expect(problem?.code == "body_timeout")
        continuation.finish()
    }

    @Test("the content type must be one of those accepted")
    func contentType() throws {
        #expect(
            try request([], [.contentType: "Application/JSON; charset=utf-8"]).requireContentType("application/json") == "application/json"
        )
        for headers in [HTTPFields(), [.contentType: "text/plain"]] {
            let problem = #expect(throws: Problem.self) {
                try request([], headers).requireContentType("application/json", "application/x-ndjson")
            }
            #expect(problem?.status == .unsupportedMediaType)
        }
    }

    @Test("the bodies of all requests together stay in their budget: announced, arriving, inflated; it is given back afterwards")
    func budget() async throws {
        let budget = BodyBudget(bytes: 300)
        let reader = BodyReader(limits: limits, budget: budget)
        @Sendable func code(_ request: Request) async -> String? {
            do {
                _ = try await reader.read(request)
                return nil
            } catch {
                return (error as? Problem)?.code ?? "\(error)"
            }
        }
        let (stream, sender) = AsyncStream.makeStream(of: ByteBuffer.self)
        let slow = Request(
            head: HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/", headerFields: [:]),
            body: .init(asyncSequence: stream)
        )
        async let slowOutcome = code(slow)
        sender.yield(ByteBuffer(bytes: [UInt8](repeating: 0, count: 200)))
        try await eventually("its bytes are counted") { budget.usedBytes == 200 }
        #expect(await code(request([], [.contentLength: "101"])) == "overloaded")
        #expect(await code(request([[UInt8](repeating: 0, count: 60), [UInt8](repeating: 0, count: 60)])) == "overloaded")
        #expect(await code(request([gzip([UInt8](repeating: 0, count: 250))], [.contentEncoding: "gzip"])) == "overloaded")
        // A share goes with its task, which may end a moment after its answer.
        try await eventually("its share is given back") { budget.usedBytes == 200 }
        sender.finish()
        #expect(await slowOutcome == nil)
        try await eventually("everything is given back") { budget.usedBytes == 0 }
        #expect(await code(request([[UInt8](repeating: 0, count: 250)])) == nil)
    }
}
