import Audit
package import HTTPServer
import HTTPTypes
import Hummingbird
import PushContract
import ServiceKit

/// `GET /sends/webhooks` and `POST /sends/webhooks/{name}/replay`.
package struct OutcomeWebhookRoutes: Sendable {
    private let store: OutcomeWebhookStore
    private let reader = BodyReader(limits: BodyLimits(compressed: 4 << 10, inflated: 4 << 10))

    package init(store: OutcomeWebhookStore) { self.store = store }

    package func add(to router: HTTPRouter) {
        router.get("/sends/webhooks", .scope(.sendsRead)) { _, _ in
            try JSONResponse(OutcomeWebhooksDocument(try await store.all())).response()
        }
        router.post("/sends/webhooks/{name}/replay", .scope(.alertsWrite)) { request, context in
            try await replay(request, context)
        }
    }

    private func replay(_ request: Request, _ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        _ = try request.requireContentType("application/json")
        var fields = try JSONFields(try JSONParser.parse(try await reader.read(request)))
        let after = try fields.required("after", JSONFields.text(1...40))
        try fields.finish()
        guard let cursor = OutcomeCursor(after) else {
            throw Problem.invalid("`after` is the `cursor` of an outcome, such as 1204-3.", pointer: "/after")
        }
        let name = try context.path("name")
        guard let (_, now) = try await store.replay(name, after: cursor, recording: AuditRecorder(caller, at: .now())) else {
            throw Problem.notFound("There is no webhook with this name. GET /sends/webhooks lists them.")
        }
        return try JSONResponse(now).response()
    }
}

/// Each webhook, and how far it has come.
package struct OutcomeWebhooksDocument: Encodable, Sendable {
    var webhooks: [OutcomeWebhookStatus]

    package init(_ webhooks: [OutcomeWebhookStatus]) { self.webhooks = webhooks }
}
