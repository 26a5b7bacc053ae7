package import Audit
package import Foundation
package import Postgres

extension AcceptanceStore {
    /// Accepts an alert's level, with an entry in the audit; nil when it was accepted before: the first one stays.
    package static func accept(
        _ alert: Alert,
        reason: String,
        recording audit: AuditRecorder,
        on pool: PostgresPool
    ) async throws -> AcceptanceRecord? {
        try await pool.withTransaction { transaction in
            let accepted = try await accept(alert, author: audit.actor.name, reason: reason, at: audit.now, in: transaction)
            guard let accepted else { return nil }
            try await audit.note(
                .acceptBaseline,
                accepted.subject,
                accepted.reason,
                after: AcceptanceDocument(accepted),
                on: transaction
            )
            return accepted
        }
    }

    /// Undoes an acceptance, with an entry in the audit; nil when none is in force.
    package static func undo(_ id: UUID, recording audit: AuditRecorder, on pool: PostgresPool) async throws -> AcceptanceRecord? {
        try await pool.withTransaction { transaction in
            guard let undone = try await undo(id, by: audit.actor.name, at: audit.now, in: transaction) else { return nil }
            try await audit.note(.undoAcceptance, undone.subject, undone.reason, before: AcceptanceDocument(undone), on: transaction)
            return undone
        }
    }
}
