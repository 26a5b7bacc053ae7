package import PushContract

/// A device on which a Live Activity can be started by a push.
package struct StartTarget: Sendable, Hashable {
    package var userId: String
    package var deviceId: String
    package var environment: PushEnvironment
    package var app: String
    /// In memory only.
    package var token: PushToken
    /// The registration of the start token; a refusal counts only against the one it was made with.
    package var version: Int64
    package var state: TokenState
    package var osVersion: OSVersion?
    package var appVersion: String?
}
