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
    package static let acceptBaseline = Self(rawValue: "alert.accept")
    package static let undoAcceptance = Self(rawValue: "alert.unaccept")
    package static let markAlert = Self(rawValue: "alert.mark")
    package static let throttleSends = Self(rawValue: "sends.throttle")
    package static let liftThrottle = Self(rawValue: "sends.unthrottle")
    package static let releaseHold = Self(rawValue: "sends.release_hold")
    package static let redriveSends = Self(rawValue: "sends.redrive")
    package static let releaseBreaker = Self(rawValue: "tokens.switch_off")
    package static let undoBreaker = Self(rawValue: "tokens.undo")
    package static let checkCredentials = Self(rawValue: "credentials.check")
    package static let createKey = Self(rawValue: "keys.create")
    package static let revokeKey = Self(rawValue: "keys.revoke")
}
