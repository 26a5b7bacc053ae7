package import HTTPServer
package import PushContract

extension SendStore {
    /// Closes a circuit, with an entry in the audit; false when no such circuit is open. Throws 403 when its app is none of `apps`.
    package func closeCircuit(_ id: Int64, apps: KeyApps = .all, recording audit: AuditRecorder) async throws -> Bool {
        guard let circuit = try await circuits().first(where: { $0.id == id }) else { return false }
        try apps.require(circuit.scope.app)
        guard try await closeCircuit(id, by: audit.actor.name) else { return false }
        try await audit.note(.closeCircuit, "circuit \(id)", before: CircuitDocument(circuit))
        return true
    }

    /// Ends a rate-limit pause, with an entry in the audit; false when there is none.
    package func endPause(provider: Provider, app: String, recording audit: AuditRecorder) async throws -> Bool {
        let pause = try await pauses().first { $0.provider == provider && $0.app == app }
        guard try await endPause(provider: provider, app: app) else { return false }
        try await audit.note(.endPause, "\(provider.rawValue) \(app)", before: pause.map(RateLimitPauseDocument.init))
        return true
    }
}
