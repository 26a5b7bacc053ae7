import Audit
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
import ServiceKit

/// `GET`, `PUT` and `DELETE /sends/throttle`: what on-call turns when a provider is in trouble.
package struct ThrottleRoutes: Sendable {
    private let store: ThrottleStore
    private let reader: BodyReader
    private let now: @Sendable () -> Timestamp

    package init(
        store: ThrottleStore,
        reader: BodyReader = BodyReader(limits: BodyLimits(compressed: 64 << 10, inflated: 64 << 10)),
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.store = store
        self.reader = reader
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.get("/sends/throttle", .scope(.sendsRead)) { _, context in
            return try await document()
        }
        router.put("/sends/throttle", .scope(.alertsWrite), apps: .checked) { request, context in try await set(request, context) }
        router.delete("/sends/throttle", .scope(.alertsWrite), apps: .checked) { request, context in try await remove(request, context) }
    }

    private func set(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        _ = try request.requireContentType("application/json")
        let body = try JSONParser.parse(try await reader.read(request))
        let now = now()
        let throttles = try SendThrottle.requested(body, author: caller.name, now: now)
        for throttle in throttles { try caller.apps.require(throttle.app, pointer: "/app") }
        try await store.set(throttles, recording: AuditRecorder(caller, at: now))
        return try await document()
    }

    private func remove(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        let query = try request.query("provider", "app")
        let provider = try query["provider"].map { text in
            guard let provider = Provider(rawValue: String(text)) else {
                throw Problem.badRequest("The query's provider must be one of apns, fcm.", code: "invalid_parameter")
            }
            return provider
        }
        let app = query["app"].map(String.init)
        try caller.apps.require(app)
        _ = try await store.remove(provider: provider, app: app, recording: AuditRecorder(caller, at: now()))
        return try await document()
    }

    private func document() async throws -> Response {
        try JSONResponse(ThrottleDocument(try await store.current())).response()
    }
}

/// The throttles in force.
package struct ThrottleDocument: Encodable, Sendable {
    package struct Throttle: Encodable, Sendable {
        var provider: Provider
        var app: String?
        var perMinute: Double
        /// Asked for as a share; `perMinute` is what that was when it was set.
        var share: Double?
        /// What is really let through: never below four a minute, so that recovery is noticed.
        var effectivePerMinute: Double
        var reason: String
        var author: String
        var createdAt: Timestamp
        var expiresAt: Timestamp

        package init(_ throttle: SendThrottle) {
            provider = throttle.provider
            app = throttle.app
            perMinute = throttle.perMinute
            share = throttle.share
            effectivePerMinute = ThrottleDecision.effectivePerMinute(throttle.perMinute)
            reason = throttle.reason
            author = throttle.author
            createdAt = throttle.createdAt
            expiresAt = throttle.expiresAt
        }
    }

    var throttles: [Throttle]

    package init(_ throttles: [SendThrottle]) { self.throttles = throttles.map(Throttle.init) }
}
