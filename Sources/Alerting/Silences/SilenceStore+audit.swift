package import Audit
package import Foundation
package import Postgres
import PushContract

extension SilenceStore {
    /// Adds a silence, with an entry in the audit.
    ///
    /// - Parameter once: for a form, which may be sent twice: writes nothing where the same was added less than a minute ago and is active.
    package static func insert(
        _ silence: AlertSilence,
        once: Bool = false,
        recording audit: AuditRecorder,
        on pool: PostgresPool
    ) async throws {
        try await pool.withTransaction { transaction in
            if once, try await isRepeated(silence, in: transaction) { return }
            try await insert(silence, in: transaction)
            try await audit.note(.addSilence, silence.subject, silence.summary, after: SilenceDocument(silence), on: transaction)
        }
    }

    /// Ends a silence now, with an entry in the audit; false when there is none, or it has ended.
    package static func end(_ id: UUID, recording audit: AuditRecorder, on pool: PostgresPool) async throws -> Bool {
        try await pool.withTransaction { transaction in
            guard let silence = try await end(id, at: audit.now, in: transaction) else { return false }
            var ended = silence
            ended.endsAt = max(silence.startsAt, audit.now)
            try await audit.note(
                .expireSilence,
                id.uuidString.lowercased(),
                silence.subject,
                before: SilenceDocument(silence),
                after: SilenceDocument(ended),
                on: transaction
            )
            return true
        }
    }
}
