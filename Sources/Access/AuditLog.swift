package import HTTPServer
package import Postgres
import PushContract

/// The table of actions: only ever added to.
package struct AuditLog: Sendable {
    private let session: any PostgresSession

    package init(_ session: any PostgresSession) { self.session = session }

    /// For routes of features that know no table.
    package var trail: AuditTrail { AuditTrail(record) }

    package func record(_ entry: AuditEntry) async throws {
        try await session.execute(
            """
            INSERT INTO auditEntries (at, actor, action, subject, detail)
            VALUES (\(entry.at), \(entry.actor), \(entry.action.rawValue), \(entry.subject), \(entry.detail))
            """
        )
    }

    /// The latest, newest first.
    package func latest(_ limit: Int) async throws -> [AuditEntry] {
        try await session.query("SELECT at, actor, action, subject, detail FROM auditEntries ORDER BY entryId DESC LIMIT \(limit)").map {
            row in
            let (at, actor, action, subject, detail) = try row.decode((Timestamp, String, String, String, String).self)
            return AuditEntry(at: at, actor: actor, action: AuditAction(rawValue: action), subject: subject, detail: detail)
        }
    }
}
