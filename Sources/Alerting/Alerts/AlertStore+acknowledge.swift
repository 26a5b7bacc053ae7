package import Audit
package import Foundation
package import Postgres
import PushContract

extension AlertStore {
    /// What an attempt to acknowledge an alert found.
    package enum Acknowledged: Sendable {
        case now
        /// By somebody else, or by the same person: the first one stays.
        case before
        /// It is resolved, or there is none.
        case notOpen
    }

    /// Marks an open alert as being worked on, with an entry in the audit. Of several at the same moment one has acknowledged it.
    package static func acknowledge(
        _ id: UUID,
        recording audit: AuditRecorder,
        on pool: PostgresPool
    ) async throws -> Acknowledged {
        try await pool.withTransaction { transaction in
            let rule = try await transaction.query(
                """
                UPDATE alerts SET acknowledgedAt = \(audit.now), acknowledgedBy = \(audit.actor.name), updatedAt = \(audit.now)
                WHERE alertId = \(id) AND state = 'firing' AND acknowledgedAt IS NULL RETURNING rule
                """
            ).first?.decode(String.self)
            guard let rule else {
                let known = try await transaction.query(
                    "SELECT FROM alerts WHERE alertId = \(id) AND state = 'firing' AND acknowledgedAt IS NOT NULL"
                )
                return known.isEmpty ? .notOpen : .before
            }
            try await notify(id, .acknowledged, receivers: nil, at: audit.now, in: transaction)
            try await audit.note(
                .acknowledgeAlert,
                id.uuidString.lowercased(),
                rule,
                after: AcknowledgedState(acknowledgedAt: audit.now, acknowledgedBy: audit.actor.name),
                on: transaction
            )
            return .now
        }
    }
}

/// The fields of an alert that acknowledging sets.
private struct AcknowledgedState: Encodable {
    let acknowledgedAt: Timestamp
    let acknowledgedBy: String
}
