package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
package import ServiceKit

/// `GET /sends/circuits`, `DELETE /sends/circuits/{circuitId}`: credentials that are refused, and letting go what waits for them.
package struct CircuitRoutes: Sendable {
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

    package func add(to router: HTTPRouter) {
        router.get("/sends/circuits", .scope(.sendsRead)) { _, context in
            return try await document()
        }
        router.delete("/sends/circuits/{circuitId}", .scope(.alertsWrite)) { _, context in try await release(context) }
    }

    /// Closing a circuit too early loses nothing: the next refusal opens it again.
    private func release(_ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        guard let id = Int64(try context.parameters.require("circuitId")), try await store.closeCircuit(id, by: caller.name) else {
            throw Problem.notFound("There is no hold with this circuitId, or it has ended already. GET /sends/holds lists those in force.")
        }
        wake.signal()
        try await audit.note(.closeCircuit, "circuit \(id)", by: caller, at: now())
        return try await document()
    }

    private func document() async throws -> Response {
        try JSONResponse(CircuitsDocument(circuits: try await store.circuits().map(CircuitDocument.init))).response()
    }
}

/// The holds in force.
struct CircuitsDocument: Encodable, Sendable {
    var circuits: [CircuitDocument]
}
