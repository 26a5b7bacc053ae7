package import PushContract

/// One device of one user, without its raw token.
package struct Device: Sendable, Hashable {
    package var userId: String
    package var deviceId: String
    package var platform: Platform
    package var provider: Provider
    package var environment: PushEnvironment
    package var app: String
    package var tokenHash: TokenHash
    package var tokenState: TokenState
    /// Why the token is not active: the provider's code, or "moved".
    package var tokenStateCause: String?
    package var tokenStateSince: Timestamp
    package var osVersion: String?
    package var appVersion: String?
    package var registrationVersion: Int64
    package var registeredAt: Timestamp
    package var lastSeenAt: Timestamp
    package var expiresAt: Timestamp
}
