package import Audit
package import HTTPServer
import Postgres
package import PushContract

extension SendStore {
    /// Closes a circuit, with an entry in the audit; its deliveries become ready (`requeueUnblocked`). False when no such circuit is open.
    /// Throws 403 when its app is none of `apps`.
    package func closeCircuit(_ id: Int64, apps: KeyApps = .all, recording audit: AuditRecorder) async throws -> Bool {
        try await pool.performTransaction { connection in
            let circuit = try connection.query(
                "SELECT \(raw: CircuitQueries.columns) FROM pushCircuits WHERE circuitId = \(id) AND closedAt IS NULL FOR UPDATE"
            ).first.map(Circuit.init)
            guard let circuit else { return false }
            try apps.require(circuit.scope.app)
            try CircuitQueries.close([id], by: audit.actor.name, on: connection)
            try audit.note(.closeCircuit, "circuit \(id)", before: CircuitDocument(circuit), on: connection)
            return true
        }
    }

    /// Ends a rate-limit pause before its time, with an entry in the audit; false when there is none.
    package func endPause(provider: Provider, app: String, recording audit: AuditRecorder) async throws -> Bool {
        try await pool.performTransaction { connection in
            let pause = try connection.query(
                """
                SELECT \(raw: CircuitQueries.pauseColumns), clock_timestamp() FROM pushRateLimitPauses
                WHERE provider = \(provider.rawValue)::pushProvider AND app = \(app) AND pausedUntil > clock_timestamp() FOR UPDATE
                """
            ).first.map { try RateLimitPause.read($0).pause }
            guard let pause else { return false }
            try connection.execute(
                """
                UPDATE pushRateLimitPauses SET pausedUntil = clock_timestamp(), requestedUntil = NULL
                WHERE provider = \(provider.rawValue)::pushProvider AND app = \(app)
                """
            )
            try audit.note(.endPause, "\(provider.rawValue) \(app)", before: RateLimitPauseDocument(pause), on: connection)
            return true
        }
    }
}
