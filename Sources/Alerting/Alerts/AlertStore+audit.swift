import Foundation
package import HTTPServer
package import Postgres
import PushContract

extension AlertStore {
    /// Acknowledges an open alert, with an entry in the audit unless somebody did so before; false when it is not open.
    package static func acknowledge(_ alert: Alert, recording audit: AuditRecorder, on pool: PostgresPool) async throws -> Bool {
        guard try await acknowledge(alert.id, by: audit.actor.name, at: audit.now, on: pool) else { return false }
        guard alert.acknowledgedAt == nil else { return true }
        try await audit.note(
            .acknowledgeAlert,
            alert.id.uuidString.lowercased(),
            alert.rule,
            after: AcknowledgedState(acknowledgedAt: audit.now, acknowledgedBy: audit.actor.name)
        )
        return true
    }
}

/// The fields of an alert that acknowledging sets.
private struct AcknowledgedState: Encodable {
    let acknowledgedAt: Timestamp
    let acknowledgedBy: String
}
