package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
package import ServiceKit

/// `GET /sends/holds`, `DELETE /sends/holds/{holdId}`: credentials that are refused, and letting go what waits for them.
package struct HoldRoutes: Sendable {
    private let store: SendStore
    private let wake: WakeSignal
    private let audit: AuditTrail
    private let now: @Sendable () -> Timestamp

    package init(store: SendStore, wake: WakeSignal, audit: AuditTrail, now: @escaping @Sendable () -> Timestamp = { .now() }) {
        self.store = store
        self.wake = wake
        self.audit = audit
        self.now = now
    }

    package func add(to router: EdgeRouter) {
        router.get("/sends/holds") { _, context in
            try context.require(.sendsRead)
            return try await document()
        }
        router.delete("/sends/holds/{holdId}") { _, context in try await release(context) }
    }

    /// Whoever releases too early loses nothing: the next refusal holds again.
    private func release(_ context: PushwatchContext) async throws -> Response {
        let caller = try context.require(.alertsWrite)
        guard let id = Int64(try context.parameters.require("holdId")), try await store.releaseHold(id, by: caller.name) else {
            throw Problem.notFound("There is no hold with this holdId, or it has ended already. GET /sends/holds lists those in force.")
        }
        wake.signal()
        try await audit.note(.releaseHold, "hold \(id)", by: caller, at: now())
        return try await document()
    }

    private func document() async throws -> Response {
        try JSONResponse(HoldsDocument(holds: try await store.holds().map(HoldDocument.init))).response()
    }
}

/// The holds in force.
struct HoldsDocument: Encodable, Sendable {
    var holds: [HoldDocument]
}
