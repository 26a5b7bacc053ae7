/// The service that delivers pushes to devices.
///
/// A new provider is one case here, with what the contract must know of it; validation, token hashes, the ingestion path, the pages and
/// the choices of the HTTP interface derive from these members.
public enum Provider: String, Sendable, Hashable, Codable, CaseIterable {
    case apns, fcm

    /// Whether a device of `platform` can be reached through this provider.
    public func serves(_ platform: Platform) -> Bool {
        switch self {
        case .apns: platform == .ios
        case .fcm: true
        }
    }

    /// As people write it.
    package var displayName: String {
        switch self {
        case .apns: "APNs"
        case .fcm: "FCM"
        }
    }

    /// The raw value as static bytes: the ingestion path hashes and copies it without allocating.
    package var spelling: StaticString {
        switch self {
        case .apns: "apns"
        case .fcm: "fcm"
        }
    }

    /// The position in the contract's list; at most 7.
    package var ordinal: UInt8 {
        switch self {
        case .apns: 0
        case .fcm: 1
        }
    }

    /// How a token is brought into the form that is stored and hashed.
    package enum TokenForm: Sendable, Hashable {
        /// Hexadecimal digits: white space and `<>` are stripped, letters lower-cased.
        case hexadecimal
        /// Any text: outer white space is trimmed, case kept.
        case text
    }

    package var tokenForm: TokenForm {
        switch self {
        case .apns: .hexadecimal
        case .fcm: .text
        }
    }
}
