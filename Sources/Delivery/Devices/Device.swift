package import PushContract

/// One device of one user, without its raw tokens.
package struct Device: Sendable, Hashable {
    /// The start token as far as anybody may see it.
    package struct StartToken: Sendable, Hashable {
        package var hash: TokenHash
        package var state: TokenState
        /// Why it is not active: the provider's code, or "moved".
        package var cause: String?
        package var since: Timestamp
        /// Of this token's registration; from the same sequence as `registrationVersion`.
        package var version: Int64
    }

    package var userId: String
    package var deviceId: String
    package var platform: Platform
    package var provider: Provider
    package var environment: PushEnvironment
    package var app: String
    package var tokenHash: TokenHash
    package var tokenState: TokenState
    /// Why the token is not active: the provider's code, "moved" or "unregistered".
    package var tokenStateCause: String?
    package var tokenStateSince: Timestamp
    /// Nil when the app never registered one, or cleared it.
    package var startToken: StartToken?
    /// Those of types that the app names; read where they are shown.
    package var typedStartTokens: [TypedStartToken] = []
    package var osVersion: String?
    package var appVersion: String?
    package var locale: String?
    package var registrationVersion: Int64
    package var registeredAt: Timestamp
    package var lastSeenAt: Timestamp
    package var expiresAt: Timestamp
}
