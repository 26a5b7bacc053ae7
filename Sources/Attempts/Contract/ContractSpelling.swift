import PushContract

// The members' raw values as static bytes: the hot path hashes and copies them without allocating.

/// A member of one of the contract's closed sets.
protocol Spelled: CaseIterable, RawRepresentable<String> {
    var spelling: StaticString { get }
    /// Its place in the contract's list, small.
    var ordinal: UInt8 { get }
}

extension StaticString {
    func isSpelled(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == utf8CodeUnitCount else { return false }
        for index in 0..<text.count where text[index] != utf8Start[index] { return false }
        return true
    }
}

extension UnsafeBufferPointer<UInt8> {
    init(_ text: StaticString) { self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
    init(_ platform: Platform) { self.init(platform.spelling) }
    init(_ provider: Provider) { self.init(provider.spelling) }
    init(_ eventType: EventType) { self.init(eventType.spelling) }
}

extension Platform: Spelled {
    var ordinal: UInt8 {
        switch self {
        case .ios: 0
        case .android: 1
        case .web: 2
        }
    }

    var spelling: StaticString {
        switch self {
        case .ios: "ios"
        case .android: "android"
        case .web: "web"
        }
    }
}

extension Provider: Spelled {}

extension EventType: Spelled {
    var ordinal: UInt8 {
        switch self {
        case .register: 0
        case .unregister: 1
        case .send: 2
        }
    }

    var spelling: StaticString {
        switch self {
        case .register: "register"
        case .unregister: "unregister"
        case .send: "send"
        }
    }
}

extension AttemptStatus: Spelled {
    var ordinal: UInt8 {
        switch self {
        case .queued: 0
        case .sent: 1
        case .failed: 2
        case .deactivated: 3
        }
    }

    var spelling: StaticString {
        switch self {
        case .queued: "queued"
        case .sent: "sent"
        case .failed: "failed"
        case .deactivated: "deactivated"
        }
    }
}

extension ReasonCode: Spelled {
    var ordinal: UInt8 {
        switch self {
        case .tokenInvalid: 0
        case .tokenNotRegistered: 1
        case .provider5xx: 2
        case .network: 3
        case .auth: 4
        case .unknown: 5
        }
    }

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

extension PushEnvironment: Spelled {
    var ordinal: UInt8 {
        switch self {
        case .production: 0
        case .sandbox: 1
        }
    }

    var spelling: StaticString {
        switch self {
        case .production: "production"
        case .sandbox: "sandbox"
        }
    }
}
