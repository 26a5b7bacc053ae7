package import PushContract

/// Where routes record what was done through them, by a person on a page or a program with a key.
///
/// A closure, since entries are kept in a table and this layer has no SQL. An entry follows its action; when it cannot be written the
/// request fails, so that no action is confirmed without an entry. Every such action may be repeated.
package struct AuditTrail: Sendable {
    private let keep: @Sendable (AuditEntry) async throws -> Void

    package init(_ keep: @escaping @Sendable (AuditEntry) async throws -> Void) { self.keep = keep }

    /// - Parameters:
    ///   - subject: what it was done to.
    ///   - detail: in words: until when, how far, why.
    package func note(_ action: AuditAction, _ subject: String, _ detail: String = "", by caller: Caller, at now: Timestamp) async throws {
        try await keep(AuditEntry(at: now, actor: caller.name, action: action, subject: subject, detail: detail))
    }
}
