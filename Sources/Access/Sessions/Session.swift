package import PushContract

/// Somebody signed in to the on-call site with an API key, as it is stored: everything but its secret.
///
/// It has no rights of its own: what it may do is looked up by its key at each request.
package struct Session: Sendable, Equatable {
    /// Names it in lists; opens nothing.
    package var id: String
    package var keyId: String
    /// Who signed in, as they gave their name.
    package var person: String
    package var createdAt: Timestamp
    /// Right to about a minute.
    package var lastUsedAt: Timestamp
    package var endedAt: Timestamp?
    package var endedBy: String?
    /// What ties a session of the bootstrap key to that very key (`BootstrapKey.proof`); nil for a stored key, whose id does.
    var bootstrapProof: [UInt8]?

    /// What the audit keeps of it.
    package var audited: [String: String] { ["person": person, "keyId": keyId] }

    /// Why a session opens nothing any more.
    package enum End: Sendable, Equatable {
        case ended(by: String)
        case idle
        case tooOld
        /// Its key was revoked, has expired, or is not there any more.
        case withoutKey
    }

    /// Nil while it is open.
    package func end(_ limits: SessionLimits, now: Timestamp) -> End? {
        if endedAt != nil { return .ended(by: endedBy ?? "") }
        if now - createdAt >= limits.lifetime { return .tooOld }
        return now - lastUsedAt >= limits.idle ? .idle : nil
    }

    /// Nil while it is open, where `keyIds` are the keys that sessions act with. It cannot show that a session of the bootstrap key ended
    /// with that very key: what ties them to each other takes the session's secret.
    package func end(_ limits: SessionLimits, keyIds: Set<String>, now: Timestamp) -> End? {
        end(limits, now: now) ?? (keyIds.contains(keyId) ? nil : .withoutKey)
    }
}
