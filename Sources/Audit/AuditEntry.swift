package import PushContract

/// One action of a person or a key.
package struct AuditEntry: Sendable, Hashable {
    package var at: Timestamp
    /// The name of the person, or of the key.
    package var actor: String
    package var callerKind: AuditActor.Kind
    /// The public part of the API key; nil where none was used.
    package var keyId: String?
    package var action: AuditAction
    package var subject: String
    /// For people; never a secret.
    package var detail: String
    /// Nil where there was nothing before.
    package var before: AuditState?
    /// Nil where there is nothing any more.
    package var after: AuditState?

    package init(
        at: Timestamp,
        by actor: AuditActor,
        action: AuditAction,
        subject: String,
        detail: String,
        before: AuditState? = nil,
        after: AuditState? = nil
    ) {
        self.at = at
        (self.actor, callerKind, keyId) = (actor.recordedName, actor.kind, actor.keyId)
        self.action = action
        self.subject = subject
        self.detail = detail
        self.before = before
        self.after = after
    }
}

/// The kinds of actions that are recorded.
package struct AuditAction: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let acknowledgeAlert = Self(rawValue: "alerts.acknowledge")
    package static let addSilence = Self(rawValue: "silences.add")
    package static let expireSilence = Self(rawValue: "silences.expire")
    package static let acceptBaseline = Self(rawValue: "acceptances.add")
    package static let undoAcceptance = Self(rawValue: "acceptances.remove")
    package static let markAlert = Self(rawValue: "alerts.mark")
    package static let eraseUser = Self(rawValue: "users.erase")
    package static let addThrottle = Self(rawValue: "throttles.add")
    package static let removeThrottle = Self(rawValue: "throttles.remove")
    package static let closeCircuit = Self(rawValue: "circuits.close")
    package static let endPause = Self(rawValue: "pauses.end")
    package static let replayWebhook = Self(rawValue: "webhooks.replay")
    package static let retryDeadLetters = Self(rawValue: "dead_letters.retry")
    package static let confirmDeactivations = Self(rawValue: "limiters.confirm")
    package static let undoDeactivations = Self(rawValue: "limiters.undo")
    package static let checkCredentials = Self(rawValue: "credentials.check")
    package static let openSession = Self(rawValue: "sessions.open")
    package static let endSession = Self(rawValue: "sessions.end")
    package static let createKey = Self(rawValue: "keys.create")
    package static let revokeKey = Self(rawValue: "keys.revoke")
    package static let rotateKey = Self(rawValue: "keys.rotate")
    package static let replaceAudience = Self(rawValue: "audiences.replace")
    package static let addToAudience = Self(rawValue: "audiences.add")
    package static let removeFromAudience = Self(rawValue: "audiences.remove")
    package static let deleteAudience = Self(rawValue: "audiences.delete")
    package static let addExclusion = Self(rawValue: "exclusions.add")
    package static let removeExclusion = Self(rawValue: "exclusions.remove")
    package static let retryReceiver = Self(rawValue: "receivers.retry")
    package static let testReceivers = Self(rawValue: "receivers.test")
    package static let rotateTokenKeys = Self(rawValue: "token_keys.rotate")
    package static let importAttempts = Self(rawValue: "attempts.import")
}
