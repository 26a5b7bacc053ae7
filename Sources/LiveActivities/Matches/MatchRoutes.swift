import Cricket
import Foundation
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
import ServiceKit

/// `PUT` and `GET /matches/{matchId}`: a feed's scores in, display states out.
package struct MatchRoutes: Sendable {
    private let store: MatchStore
    private let reader: BodyReader
    private let now: @Sendable () -> Timestamp

    package init(
        store: MatchStore,
        reader: BodyReader = BodyReader(limits: BodyLimits(compressed: 256 << 10, inflated: 256 << 10)),
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.store = store
        self.reader = reader
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.put("/matches/{matchId}", .scope(.matchesWrite)) { request, context in try await put(request, context) }
        router.get("/matches/{matchId}", .userOrScope(.matchesWrite)) { request, context in try await show(request, context) }
    }

    private func put(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        _ = try request.requireContentType("application/json")
        let now = now()
        let score = try MatchRoutes.read(try await reader.read(request), now: now)
        guard score.matchId == (try context.path("matchId")) else {
            throw Problem.invalid("\"matchId\" is another than the one in the path. Send the same.", pointer: "/matchId")
        }
        do {
            return try JSONResponse(MatchReceiptDocument(try await store.accept(score, now: now))).response()
        } catch is MatchIsOver {
            throw Problem.conflict(
                "This match has ended. Its final state may still be corrected; to go on with play, use another matchId.",
                code: "match_ended",
                pointer: "/phase"
            )
        }
    }

    static func read(_ bytes: [UInt8], now: Timestamp) throws(Problem) -> MatchScore {
        let json = try JSONParser.parse(bytes)
        do {
            let score = try MatchScore(json)
            try score.checkClock(now: now)
            return score
        } catch {
            throw Problem.invalid(error.detail, code: error.code, pointer: error.pointer)
        }
    }

    private func show(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let matchId = try context.path("matchId")
        guard let display = try await store.display(matchId, now: now()) else {
            throw Problem.notFound("No match has this matchId, or it ended more than two days ago.")
        }
        let tag = "\"\(display.seq)-\(display.timestamp)\""
        var headers: HTTPFields = [.contentType: "application/json", .eTag: tag, .cacheControl: "no-cache"]
        headers[.feedState] = display.feed.rawValue
        headers[.confirmedAt] = display.confirmedAt.rfc3339
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: display.text)))
    }
}

extension HTTPField.Name {
    /// The body is what every follower gets, byte for byte: how far it can be relied on is said next to it.
    fileprivate static let feedState = HTTPField.Name("X-Feed-State")!
    fileprivate static let confirmedAt = HTTPField.Name("X-Confirmed-At")!
}

/// The answer to a state that was sent.
struct MatchReceiptDocument: Encodable {
    var result: String
    var matchId: String
    var seq: Int64
    var phase: String
    var events: [String]

    init(_ receipt: MatchReceipt) {
        result = receipt.result.rawValue
        matchId = receipt.matchId
        seq = receipt.seq
        phase = receipt.phase.rawValue
        events = receipt.events.map(\.rawValue)
    }
}
