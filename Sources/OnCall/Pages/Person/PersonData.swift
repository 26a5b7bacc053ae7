import PushContract

/// Everything known about one person's pushes.
struct PersonData {
    struct Device: Hashable {
        var deviceId: String
        var platform: Platform
        var provider: Provider
        var environment: String
        var app: String
        var appVersion: String?
        var osVersion: String?
        var tokenHash: String
        /// `active`, `suspect` or `off`.
        var tokenState: String
        var tokenStateCause: String?
        var tokenStateSince: Timestamp
        var hasStartToken: Bool
        var lastSeenAt: Timestamp
        var expiresAt: Timestamp
    }

    struct Activity: Hashable {
        var subject: String
        var deviceId: String
        var instance: Int
        /// `pending`, `active` or `ended`.
        var status: String
        var endReason: String?
        var createdAt: Timestamp
        var activatedAt: Timestamp?
        var endedAt: Timestamp?
        var lastSentAt: Timestamp?
    }

    /// A delivery that is not over.
    struct Waiting: Hashable {
        var sendId: String
        var deviceId: String?
        var provider: Provider
        var app: String
        /// `ready`, `scheduled` or `sending`.
        var state: String
        var reasonCode: String?
        var createdAt: Timestamp
        var nextAttemptAt: Timestamp?
    }

    var uid: String
    var devices: [Device]
    var activities: [Activity]
    var waiting: [Waiting]
    /// Newest first.
    var attempts: [Attempt]
    /// Whether there are more than `attempts` shows.
    var hasMoreAttempts: Bool

    var isUnknown: Bool { devices.isEmpty && activities.isEmpty && waiting.isEmpty && attempts.isEmpty }
}
