import AlertRules
import Audit
import Foundation
package import HTTPServer
import Hummingbird
package import Postgres
package import PushContract

/// `GET /alerts`, `GET /alerts/{id}`, `POST /alerts/{id}/acknowledge`, `POST /alerts/{id}/accept`, `GET` and `POST /silences`,
/// `DELETE /silences/{id}`, `GET /acceptances`, `DELETE /acceptances/{id}`.
package struct AlertRoutes: Sendable {
    let pool: PostgresPool
    let rules: RuleRegistry?
    let receivers: ReceiverRegistry?
    let bodies: BodyReader
    let now: @Sendable () -> Timestamp

    /// `rules` and `receivers` are asked for the errors of their files; an instance without the alert role has none.
    package init(
        pool: PostgresPool,
        rules: RuleRegistry? = nil,
        receivers: ReceiverRegistry? = nil,
        bodies: BodyReader = BodyReader(limits: BodyLimits(compressed: 64 << 10, inflated: 64 << 10)),
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.pool = pool
        self.rules = rules
        self.receivers = receivers
        self.bodies = bodies
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.get("alerts", .scope(.alertsRead), use: list)
        router.get("alerts/:id", .scope(.alertsRead), use: get)
        router.post("alerts/:id/acknowledge", .scope(.alertsWrite), use: acknowledge)
        router.post("alerts/:id/accept", .scope(.alertsWrite), use: accept)
        router.get("acceptances", .scope(.alertsRead), use: acceptances)
        router.delete("acceptances/:id", .scope(.alertsWrite), use: undoAcceptance)
        router.get("silences", .scope(.alertsRead), use: silences)
        router.post("silences", .scope(.alertsWrite), use: silence)
        router.delete("silences/:id", .scope(.alertsWrite), use: expireSilence)
    }

    /// All that fire, and the newest of those that are over. `state=firing|resolved`, `limit` 1–500 (default 50) of the latter.
    @Sendable
    private func list(_ request: Request, context: PushwatchContext) async throws -> JSONResponse<AlertListDocument> {
        let query = try request.query("state", "limit")
        let state = query["state"].map(String.init)
        guard state == nil || state == "firing" || state == "resolved" else {
            throw Problem.badRequest("`state` must be firing or resolved.", code: "invalid_parameter")
        }
        let limit = try query.limit(standard: 50, maximum: 500)
        let open = state == "resolved" ? [] : try await AlertStore.open(on: pool)
        let over = state == "firing" ? [] : try await AlertStore.resolved(limit: limit, on: pool)
        return JSONResponse(
            AlertListDocument(
                alerts: open + over,
                ruleErrors: (rules?.findings ?? []).filter { $0.severity == .error }.map(\.description)
                    + [receivers?.fault].compactMap { $0 }
            )
        )
    }

    @Sendable
    private func get(_ request: Request, context: PushwatchContext) async throws -> JSONResponse<AlertDetailDocument> {
        let alert = try await alert(context)
        return JSONResponse(try await AlertDetailDocument.read(alert, on: pool))
    }

    /// Idempotent: of several acknowledgements the first one stays.
    @Sendable
    private func acknowledge(_ request: Request, context: PushwatchContext) async throws -> JSONResponse<AlertDocument> {
        let caller = try context.requireCaller()
        let known = try await alert(context)
        guard try await AlertStore.acknowledge(known.id, recording: AuditRecorder(caller, at: now()), on: pool) != .notOpen else {
            throw Problem.conflict("This alert is resolved already; there is nothing to acknowledge.", code: "already_resolved")
        }
        return JSONResponse(AlertDocument(try await alert(context)))
    }

    func alert(_ context: PushwatchContext) async throws -> Alert {
        let id = try context.parameters.require("id")
        guard let uuid = UUID(uuidString: id), let alert = try await AlertStore.alert(uuid, on: pool) else {
            throw Problem.notFound("There is no alert with this id.")
        }
        return alert
    }
}
