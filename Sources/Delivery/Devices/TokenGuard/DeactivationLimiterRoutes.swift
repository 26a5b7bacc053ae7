import Audit
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract

/// `GET /sends/deactivation-limiters`, `POST /sends/deactivation-limiters/{limiterId}/confirm` and `/undo`.
package struct DeactivationLimiterRoutes: Sendable {
    private let store: DeactivationLimiterStore
    private let now: @Sendable () -> Timestamp

    package init(store: DeactivationLimiterStore, now: @escaping @Sendable () -> Timestamp = { .now() }) {
        self.store = store
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.get("/sends/deactivation-limiters", .scope(.sendsRead)) { _, context in
            return try await document(tokens: nil)
        }
        router.post("/sends/deactivation-limiters/{limiterId}/confirm", .scope(.alertsWrite), apps: .checked) { _, context in
            try await close(context, .confirm)
        }
        router.post("/sends/deactivation-limiters/{limiterId}/undo", .scope(.alertsWrite), apps: .checked) { _, context in
            try await close(context, .undo)
        }
    }

    private func close(_ context: PushwatchContext, _ decision: DeactivationLimiterStore.Decision) async throws -> Response {
        let caller = try context.requireCaller()
        guard let id = Int64(try context.parameters.require("limiterId")),
            let tokens = try await store.close(id, decision, apps: caller.apps, recording: AuditRecorder(caller, at: now()))
        else {
            throw Problem.notFound("There is no open limiter with this limiterId. GET /sends/deactivation-limiters lists those that are.")
        }
        return try await document(tokens: tokens)
    }

    private func document(tokens: Int?) async throws -> Response {
        try JSONResponse(DeactivationLimitersDocument(try await store.open(), tokens: tokens)).response()
    }
}

/// The limiters that are open; after an action also how many tokens it changed.
package struct DeactivationLimitersDocument: Encodable, Sendable {
    var tokens: Int?
    var limiters: [DeactivationLimiterDocument]

    package init(_ limiters: [DeactivationLimiter], tokens: Int? = nil) {
        self.tokens = tokens
        self.limiters = limiters.map(DeactivationLimiterDocument.init)
    }
}

/// A limiter as the API shows it.
struct DeactivationLimiterDocument: Encodable, Sendable {
    var limiterId: Int64
    var provider: Provider
    var app: String
    var environment: PushEnvironment
    var credential: String
    var openedAt: Timestamp
    var cause: String
    /// The outcomes that opened it: pushes that judged a token, refusals the configuration may be at fault for, tokens called gone.
    var total: Int64
    var ambiguous: Int64
    var gone: Int64
    /// Tokens deferred instead of deactivated, and those deactivated shortly before it opened.
    var deferred: Int64
    var deactivated: Int64

    init(_ limiter: DeactivationLimiter) {
        limiterId = limiter.id
        provider = limiter.scope.provider
        app = limiter.scope.app
        environment = limiter.scope.environment
        credential = limiter.scope.credential
        openedAt = limiter.openedAt
        cause = limiter.cause
        total = limiter.counts.total
        ambiguous = limiter.counts.ambiguous
        gone = limiter.counts.gone
        deferred = limiter.deferred
        deactivated = limiter.deactivated
    }
}
