/// Where a device runs. `apns` implies `ios`; `web` implies `fcm`.
public enum Platform: String, Sendable, Hashable, Codable, CaseIterable {
    case ios, android, web
}

/// Who carries the push.
public enum Provider: String, Sendable, Hashable, Codable, CaseIterable {
    case apns, fcm

    /// Whether a device of `platform` can be reached through this provider.
    public func serves(_ platform: Platform) -> Bool {
        switch self {
        case .apns: platform == .ios
        case .fcm: true
        }
    }
}

/// What an attempt tried to do.
public enum EventType: String, Sendable, Hashable, Codable, CaseIterable {
    case register, unregister, send
}

/// How far an attempt has come: queued → sent or failed → deactivated.
public enum AttemptStatus: String, Sendable, Hashable, Codable, CaseIterable {
    case queued, sent, failed, deactivated

    /// The place on the line; progress only ever moves to a higher rank.
    public var rank: Int {
        switch self {
        case .queued: 0
        case .sent, .failed: 1
        case .deactivated: 2
        }
    }

    /// Whether a `reasonCode` belongs to this status (it is required then, and refused otherwise).
    public var carriesReason: Bool { self == .failed || self == .deactivated }
}

/// The six normalised buckets of the lifecycle contract. The set is closed.
public enum ReasonCode: String, Sendable, Hashable, Codable, CaseIterable {
    case tokenInvalid = "token_invalid"
    case tokenNotRegistered = "token_not_registered"
    case provider5xx = "provider_5xx"
    case network
    case auth
    case unknown
}

/// Which of a provider's worlds a token belongs to.
public enum PushEnvironment: String, Sendable, Hashable, Codable, CaseIterable {
    case production, sandbox
}
