import Audit
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
package import ServiceKit

/// `GET /sends/dead`, `POST /sends/dead/retry`.
package struct DeadLetterRoutes: Sendable {
    private let store: SendStore
    private let wake: WakeSignal
    private let reader: BodyReader
    private let now: @Sendable () -> Timestamp

    package init(
        store: SendStore,
        wake: WakeSignal,
        reader: BodyReader = BodyReader(limits: BodyLimits(compressed: 64 << 10, inflated: 64 << 10)),
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.store = store
        self.wake = wake
        self.reader = reader
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.get("/sends/dead", .scope(.sendsRead)) { request, context in try await list(request, context) }
        router.post("/sends/dead/retry", .scope(.sendsWrite), apps: .checked) { request, context in
            try await retryDeadLetters(request, context)
        }
    }

    private func list(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let query = try request.query(
            "sendId",
            "outcome",
            "reasonCode",
            "providerErrorCode",
            "provider",
            "app",
            "since",
            "until",
            "limit"
        )
        let filter = try DeadLetterFilter(query: query, now: now())
        let letters = try await store.deadLetters(filter, limit: try query.limit(standard: 100, maximum: 1000))
        return try JSONResponse(DeadLettersDocument(letters)).response()
    }

    private func retryDeadLetters(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        _ = try request.requireContentType("application/json")
        var fields = try JSONFields(try JSONParser.parse(try await reader.read(request)))
        let now = now()
        let filter = try DeadLetterFilter(&fields, now: now)
        let minutes = try fields.optional("lifetimeMinutes", JSONFields.integer(1...40_320)) ?? 60
        try fields.finish()
        try caller.apps.require(filter.app, pointer: "/app")
        let lifetime = Duration.seconds(minutes * 60)
        let count = try await store.retryDeadLetters(filter, lifetime: lifetime, recording: AuditRecorder(caller, at: now))
        wake.signal()
        return try JSONResponse(RetriedDeadLettersDocument(retried: count, mayBeMore: count == SendStore.retryLimit)).response()
    }
}

struct RetriedDeadLettersDocument: Encodable, Sendable {
    var retried: Int
    /// One request takes 10,000 at most; repeat it.
    var mayBeMore: Bool
}

/// The dead letters that match, newest first.
package struct DeadLettersDocument: Encodable, Sendable {
    var deadLetters: [DeadLetter]

    package init(_ letters: [DeadLetter]) { deadLetters = letters }
}
