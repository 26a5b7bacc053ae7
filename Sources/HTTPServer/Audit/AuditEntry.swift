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
    package static let retryDeadLetters = Self(rawValue: "dead_letters.retry")
    package static let confirmDeactivations = Self(rawValue: "limiters.confirm")
    package static let undoDeactivations = Self(rawValue: "limiters.undo")
    package static let checkCredentials = Self(rawValue: "credentials.check")
    package static let openSession = Self(rawValue: "sessions.open")
    package static let endSession = Self(rawValue: "sessions.end")
    package static let createKey = Self(rawValue: "keys.create")
    package static let revokeKey = Self(rawValue: "keys.revoke")
}
