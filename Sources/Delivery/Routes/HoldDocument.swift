import PushContract

/// A refused credential, and what waits for it.
package struct HoldDocument: Encodable, Sendable {
    var holdId: Int64
    var provider: Provider
    var app: String
    var environment: PushEnvironment
    var platform: Platform?
    /// Names the credential; not a secret.
    var credential: String
    /// The provider's code.
    var cause: String
    var since: Timestamp
    var lastRefusedAt: Timestamp
    var refusals: Int64
    var probes: Int
    var nextProbeAt: Timestamp

    package init(_ hold: SendHold) {
        holdId = hold.id
        provider = hold.scope.provider
        app = hold.scope.app
        environment = hold.scope.environment
        platform = hold.scope.platform
        credential = hold.scope.credential
        cause = hold.cause
        since = hold.since
        lastRefusedAt = hold.lastRefusedAt
        refusals = hold.refusals
        probes = hold.probes
        nextProbeAt = hold.nextProbeAt
    }
}

/// Lanes that wait because their provider asked for fewer requests.
struct PauseDocument: Encodable, Sendable {
    var provider: Provider
    var app: String
    var cause: String
    var since: Timestamp
    var until: Timestamp

    init(_ pause: LanePause) {
        provider = pause.provider
        app = pause.app
        cause = pause.cause
        since = pause.since
        until = pause.until
    }
}
