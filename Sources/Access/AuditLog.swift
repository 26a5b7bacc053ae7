package import Postgres
package import PushContract

/// One action of a person or a key.
package struct AuditEntry: Sendable, Hashable {
    package var at: Timestamp
    /// The name of the key or session.
    package var actor: String
    package var action: AuditAction
    package var subject: String
    /// In words; never a secret.
    package var detail: String

    package init(at: Timestamp, actor: String, action: AuditAction, subject: String, detail: String) {
        self.at = at
        self.actor = actor
        self.action = action
        self.subject = subject
        self.detail = detail
    }
}

/// What can be done that somebody may ask about later.
package struct AuditAction: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let acknowledgeAlert = Self(rawValue: "alert.acknowledge")
    package static let silenceAlerts = Self(rawValue: "alert.silence")
    package static let endSilence = Self(rawValue: "alert.unsilence")
    package static let markAlert = Self(rawValue: "alert.mark")
    package static let throttleSends = Self(rawValue: "sends.throttle")
    package static let liftThrottle = Self(rawValue: "sends.unthrottle")
}

/// The table of actions: only ever added to.
package struct AuditLog: Sendable {
    private let session: any PostgresSession

    package init(_ session: any PostgresSession) { self.session = session }

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
            let (at, actor, action, subject, detail) = try row.decode(
                Timestamp.self,
                String.self,
                String.self,
                String.self,
                String.self
            )
            return AuditEntry(at: at, actor: actor, action: AuditAction(rawValue: action), subject: subject, detail: detail)
        }
    }
}
