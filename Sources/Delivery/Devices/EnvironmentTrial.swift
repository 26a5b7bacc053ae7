package import PushContract

/// The state of a token that was refused as none of its environment's: APNs answers BadDeviceToken to a malformed token and to one of the
/// other environment alike.
enum EnvironmentTrial: String, Sendable, Hashable, CaseIterable {
    /// The other environment is tried.
    case trying
    /// The token belongs to the other environment than the app named. It stays so for as long as the device has this token.
    case found
    /// Neither takes it.
    case neither
}

extension PushEnvironment {
    /// The one a token may belong to instead.
    package var other: PushEnvironment { self == .production ? .sandbox : .production }
}
