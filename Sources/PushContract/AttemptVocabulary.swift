/// The platform of a device. `apns` implies `ios`; `web` implies `fcm`.
public enum Platform: String, Sendable, Hashable, Codable, CaseIterable {
    case ios, android, web
}

/// What an attempt was for.
public enum EventType: String, Sendable, Hashable, Codable, CaseIterable {
    case register, unregister, send
}

/// The status of an attempt: queued → sent or failed → deactivated.
public enum AttemptStatus: String, Sendable, Hashable, Codable, CaseIterable {
    case queued, sent, failed, deactivated

    /// The position in that order; an attempt's status only changes to one of higher rank.
    public var rank: Int {
        switch self {
        case .queued: 0
        case .sent, .failed: 1
        case .deactivated: 2
        }
    }

    /// Whether a `reasonCode` is required with this status; it is refused with the others.
    public var carriesReason: Bool { self == .failed || self == .deactivated }
}

/// The six normalised reasons of a failure (lifecycle contract, "Reason code mapping"). The set is closed.
public enum ReasonCode: String, Sendable, Hashable, Codable, CaseIterable {
    case tokenInvalid = "token_invalid"
    case tokenNotRegistered = "token_not_registered"
    case provider5xx = "provider_5xx"
    case network
    case auth
    case unknown
}

/// The environment of a provider that a token belongs to.
public enum PushEnvironment: String, Sendable, Hashable, Codable, CaseIterable {
    case production, sandbox
}
