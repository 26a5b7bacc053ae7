package import Foundation
package import HTTPServer
package import Postgres
import PushContract

extension SilenceStore {
    /// Adds a silence, with an entry in the audit.
    package static func insert(_ silence: AlertSilence, recording audit: AuditRecorder, on session: any PostgresSession) async throws {
        try await insert(silence, on: session)
        try await audit.note(.addSilence, silence.subject, silence.summary, after: SilenceDocument(silence))
    }

    /// Ends a silence now, with an entry in the audit; false when there is none, or it has ended.
    package static func end(_ id: UUID, recording audit: AuditRecorder, on session: any PostgresSession) async throws -> Bool {
        guard let silence = try await current(at: audit.now, on: session).first(where: { $0.id == id }),
            try await end(id, at: audit.now, on: session)
        else { return false }
        var ended = silence
        ended.endsAt = max(silence.startsAt, audit.now)
        try await audit.note(
            .expireSilence,
            id.uuidString.lowercased(),
            silence.subject,
            before: SilenceDocument(silence),
            after: SilenceDocument(ended)
        )
        return true
    }
}
