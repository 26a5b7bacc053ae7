package import HTTPServer
package import Postgres
package import PushContract

/// Records what one actor does at one moment. Passed to the functions that change something, which add the state before and after.
///
/// An entry is written in the transaction of its action, so that neither is stored without the other. A transaction that is retried
/// writes its entry again, as the first one was rolled back.
package struct AuditRecorder: Sendable {
    package let actor: AuditActor
    package let now: Timestamp

    package init(_ actor: AuditActor, at now: Timestamp) {
        self.actor = actor
        self.now = now
    }

    package init(_ caller: Caller, at now: Timestamp) { self.init(AuditActor(caller), at: now) }

    /// - Parameters:
    ///   - subject: what it was done to.
    ///   - detail: in words: until when, how far, why.
    ///   - before: what the subject was, as far as it was changed; nil where there was nothing.
    ///   - after: what it is now; nil where there is nothing any more.
    ///   - session: the transaction of the action.
    package func note(
        _ action: AuditAction,
        _ subject: String,
        _ detail: String = "",
        before: (any Encodable)? = nil,
        after: (any Encodable)? = nil,
        on session: any PostgresSession
    ) async throws {
        try await session.execute(AuditLog.insert(try entry(action, subject, detail, before, after)))
    }

    /// The same for synchronous statements.
    package func note(
        _ action: AuditAction,
        _ subject: String,
        _ detail: String = "",
        before: (any Encodable)? = nil,
        after: (any Encodable)? = nil,
        on connection: BlockingConnection
    ) throws {
        try connection.execute(AuditLog.insert(try entry(action, subject, detail, before, after)))
    }

    private func entry(
        _ action: AuditAction,
        _ subject: String,
        _ detail: String,
        _ before: (any Encodable)?,
        _ after: (any Encodable)?
    ) throws -> AuditEntry {
        AuditEntry(
            at: now,
            by: actor,
            action: action,
            subject: subject,
            detail: detail,
            before: try before.map { try AuditState($0) },
            after: try after.map { try AuditState($0) }
        )
    }
}
