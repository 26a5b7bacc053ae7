import PushContract

// The members' raw values as static bytes: the hot path hashes and copies them without allocating.

extension UnsafeBufferPointer<UInt8> {
    init(_ text: StaticString) { self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
    init(_ platform: Platform) { self.init(platform.spelling) }
    init(_ provider: Provider) { self.init(provider.spelling) }
    init(_ eventType: EventType) { self.init(eventType.spelling) }
}

extension Platform {
    var spelling: StaticString {
        switch self {
        case .ios: "ios"
        case .android: "android"
        case .web: "web"
        }
    }
}

extension Provider {
    var spelling: StaticString {
        switch self {
        case .apns: "apns"
        case .fcm: "fcm"
        }
    }
}

extension EventType {
    var spelling: StaticString {
        switch self {
        case .register: "register"
        case .unregister: "unregister"
        case .send: "send"
        }
    }
}

extension AttemptStatus {
    var spelling: StaticString {
        switch self {
        case .queued: "queued"
        case .sent: "sent"
        case .failed: "failed"
        case .deactivated: "deactivated"
        }
    }
}

extension ReasonCode {
    var spelling: StaticString {
        switch self {
        case .tokenInvalid: "token_invalid"
        case .tokenNotRegistered: "token_not_registered"
        case .provider5xx: "provider_5xx"
        case .network: "network"
        case .auth: "auth"
        case .unknown: "unknown"
        }
    }
}

extension PushEnvironment {
    var spelling: StaticString {
        switch self {
        case .production: "production"
        case .sandbox: "sandbox"
        }
    }
}
