import Audit
import Foundation
package import HTTPServer
import HTTPTypes
import Hummingbird
package import PushContract
package import ServiceKit

/// `GET /sends/circuits`, `DELETE /sends/circuits/{circuitId}`, `DELETE /sends/pauses/{provider}/{app}`: what the send gate blocks, and
/// sending again.
package struct CircuitRoutes: Sendable {
    private let store: SendStore
    private let wake: WakeSignal
    private let now: @Sendable () -> Timestamp

    package init(store: SendStore, wake: WakeSignal, now: @escaping @Sendable () -> Timestamp = { .now() }) {
        self.store = store
        self.wake = wake
        self.now = now
    }

    package func add(to router: HTTPRouter) {
        router.get("/sends/circuits", .scope(.sendsRead)) { _, context in
            return try await document()
        }
        router.delete("/sends/circuits/{circuitId}", .scope(.alertsWrite), apps: .checked) { _, context in try await close(context) }
        router.delete("/sends/pauses/{provider}/{app}", .scope(.alertsWrite), apps: .checked) { _, context in
            try await endPause(context)
        }
    }

    /// Closing a circuit too early loses nothing: the next refusal opens it again.
    private func close(_ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        guard let id = Int64(try context.parameters.require("circuitId")),
            try await store.closeCircuit(id, apps: caller.apps, recording: AuditRecorder(caller, at: now()))
        else {
            throw Problem.notFound("No open circuit has this circuitId. GET /sends/circuits lists the open ones.")
        }
        wake.signal()
        return try await document()
    }

    /// Ending a pause too early loses nothing: the next refusal pauses again.
    private func endPause(_ context: PushwatchContext) async throws -> Response {
        let caller = try context.requireCaller()
        let provider = Provider(rawValue: try context.parameters.require("provider"))
        let name = try context.parameters.require("app")
        let app = name.removingPercentEncoding ?? name
        try caller.apps.require(app)
        guard let provider, try await store.endPause(provider: provider, app: app, recording: AuditRecorder(caller, at: now())) else {
            throw Problem.notFound("The provider did not pause this app. GET /sends/backlog lists the pauses.")
        }
        wake.signal()
        let now = now()
        let pauses = try await store.pauses().filter { $0.until > now }
        return try JSONResponse(RateLimitPausesDocument(pauses: pauses.map(RateLimitPauseDocument.init))).response()
    }

    private func document() async throws -> Response {
        try JSONResponse(CircuitsDocument(try await store.circuits())).response()
    }
}

/// The pauses that are not over.
struct RateLimitPausesDocument: Encodable, Sendable {
    var pauses: [RateLimitPauseDocument]
}

/// The open circuits.
package struct CircuitsDocument: Encodable, Sendable {
    var circuits: [CircuitDocument]

    package init(_ circuits: [Circuit]) { self.circuits = circuits.map(CircuitDocument.init) }
}
