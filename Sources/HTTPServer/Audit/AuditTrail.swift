package import PushContract

/// Where routes record what was done through them, by a person on a page or a program with a key.
///
/// A closure, since entries are kept in a table and this layer has no SQL. An entry follows its action; when it cannot be written the
/// request fails, so that no action is confirmed without an entry. Every such action may be repeated.
package struct AuditTrail: Sendable {
    private let keep: @Sendable (AuditEntry) async throws -> Void

    package init(_ keep: @escaping @Sendable (AuditEntry) async throws -> Void) { self.keep = keep }

    /// For what one actor does at one moment.
    package func by(_ actor: AuditActor, at now: Timestamp) -> AuditRecorder { AuditRecorder(actor: actor, now: now, keep: keep) }

    package func by(_ caller: Caller, at now: Timestamp) -> AuditRecorder { by(AuditActor(caller), at: now) }
}

/// Records what one actor does: handed to the functions that change something, which know what it was before and is after.
package struct AuditRecorder: Sendable {
    package let actor: AuditActor
    package let now: Timestamp
    fileprivate let keep: @Sendable (AuditEntry) async throws -> Void

    /// - Parameters:
    ///   - subject: what it was done to.
    ///   - detail: in words: until when, how far, why.
    ///   - before: what the subject was, as far as it was changed; nil where there was nothing.
    ///   - after: what it is now; nil where there is nothing any more.
    package func note(
        _ action: AuditAction,
        _ subject: String,
        _ detail: String = "",
        before: (any Encodable)? = nil,
        after: (any Encodable)? = nil
    ) async throws {
        let entry = AuditEntry(
            at: now,
            by: actor,
            action: action,
            subject: subject,
            detail: detail,
            before: try before.map { try AuditState($0) },
            after: try after.map { try AuditState($0) }
        )
        try await keep(entry)
    }
}
