package import Postgres
import PushContract

/// The table of actions, which is append-only.
package struct AuditLog: Sendable {
    private let session: any PostgresSession

    package init(_ session: any PostgresSession) { self.session = session }

    /// The statement that adds an entry.
    static func insert(_ entry: AuditEntry) -> Query {
        """
        INSERT INTO auditEntries (at, actor, callerKind, keyId, action, subject, detail, before, after)
        VALUES (\(entry.at), \(entry.actor), \(entry.callerKind.rawValue), \(entry.keyId), \(entry.action.rawValue), \(entry.subject),
            \(entry.detail), \(entry.before?.json)::jsonb, \(entry.after?.json)::jsonb)
        """
    }

    /// The latest, newest first.
    package func latest(_ limit: Int) async throws -> [AuditEntry] {
        try await session.query(
            """
            SELECT at, actor, callerKind, keyId, action, subject, detail, before::text, after::text
            FROM auditEntries ORDER BY entryId DESC LIMIT \(limit)
            """
        ).map(AuditEntry.init(row:))
    }
}

extension AuditEntry {
    fileprivate init(row: Row) throws {
        let (at, actor, kind, keyId, action, subject, detail, before, after) = try row.decode(
            (Timestamp, String, String, String?, String, String, String, String?, String?).self
        )
        self.init(
            at: at,
            by: AuditActor(name: actor, kind: AuditActor.Kind(rawValue: kind) ?? .command, keyId: keyId),
            action: AuditAction(rawValue: action),
            subject: subject,
            detail: detail,
            before: before.map(AuditState.init(stored:)),
            after: after.map(AuditState.init(stored:))
        )
    }
}
