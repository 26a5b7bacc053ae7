package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract

/// `GET /sends/token-breakers`, `POST /sends/token-breakers/{breakerId}/release` and `/undo`.
package struct TokenBreakerRoutes: Sendable {
    private let store: TokenBreakerStore
    private let audit: AuditTrail
    private let now: @Sendable () -> Timestamp

    package init(store: TokenBreakerStore, audit: AuditTrail, now: @escaping @Sendable () -> Timestamp = { .now() }) {
        self.store = store
        self.audit = audit
        self.now = now
    }

    package func add(to router: EdgeRouter) {
        router.get("/sends/token-breakers") { _, context in
            try context.require(.sendsRead)
            return try await document(tokens: nil)
        }
        router.post("/sends/token-breakers/{breakerId}/release") { _, context in
            let caller = try context.require(.alertsWrite)
            return try await close(context, .releaseBreaker, by: caller) { try await store.release($0, by: caller.name) }
        }
        router.post("/sends/token-breakers/{breakerId}/undo") { _, context in
            let caller = try context.require(.alertsWrite)
            return try await close(context, .undoBreaker, by: caller) { try await store.undo($0, by: caller.name) }
        }
    }

    private func close(
        _ context: PushwatchContext,
        _ name: AuditAction,
        by caller: Caller,
        _ action: (Int64) async throws -> Int?
    ) async throws -> Response {
        guard let id = Int64(try context.parameters.require("breakerId")), let tokens = try await action(id) else {
            throw Problem.notFound("There is no open breaker with this breakerId. GET /sends/token-breakers lists those that are.")
        }
        try await audit.note(name, "breaker \(id)", "\(tokens) tokens", by: caller, at: now())
        return try await document(tokens: tokens)
    }

    private func document(tokens: Int?) async throws -> Response {
        let open = try await store.open().map(TokenBreakerDocument.init)
        return try JSONResponse(TokenBreakersDocument(tokens: tokens, breakers: open)).response()
    }
}

/// The breakers that are open; after an action also how many tokens it changed.
struct TokenBreakersDocument: Encodable, Sendable {
    var tokens: Int?
    var breakers: [TokenBreakerDocument]
}

/// A breaker as the API shows it.
package struct TokenBreakerDocument: Encodable, Sendable {
    var breakerId: Int64
    var provider: Provider
    var app: String
    var environment: PushEnvironment
    var credential: String
    var openedAt: Timestamp
    var cause: String
    /// The outcomes that opened it: pushes that judged a token, refusals the configuration may be at fault for, tokens called gone.
    var judged: Int64
    var ambiguous: Int64
    var gone: Int64
    /// Tokens put aside instead of switched off, and those switched off shortly before it opened.
    var withheld: Int64
    var switchedOff: Int64

    package init(_ breaker: TokenBreaker) {
        breakerId = breaker.id
        provider = breaker.place.provider
        app = breaker.place.app
        environment = breaker.place.environment
        credential = breaker.place.credential
        openedAt = breaker.openedAt
        cause = breaker.cause
        judged = breaker.counts.judged
        ambiguous = breaker.counts.ambiguous
        gone = breaker.counts.gone
        withheld = breaker.withheld
        switchedOff = breaker.switchedOff
    }
}
