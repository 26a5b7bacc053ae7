import PushContract

/// An open circuit.
struct CircuitDocument: Encodable, Sendable {
    var circuitId: Int64
    var kind: String
    var provider: Provider
    var app: String
    var environment: PushEnvironment
    var platform: Platform?
    var topic: String?
    /// Names the credential; not a secret.
    var credential: String
    /// The provider's code.
    var cause: String
    var since: Timestamp
    var lastRefusedAt: Timestamp
    var refusals: Int64
    var probes: Int
    var nextProbeAt: Timestamp

    package init(_ circuit: Circuit) {
        circuitId = circuit.id
        kind = circuit.scope.kind.rawValue
        provider = circuit.scope.provider
        app = circuit.scope.app
        environment = circuit.scope.environment
        platform = circuit.scope.platform
        topic = circuit.scope.topic
        credential = circuit.scope.credential
        cause = circuit.cause
        since = circuit.since
        lastRefusedAt = circuit.lastRefusedAt
        refusals = circuit.refusals
        probes = circuit.probes
        nextProbeAt = circuit.nextProbeAt
    }
}

/// Queues that wait because their provider asked for fewer requests.
struct RateLimitPauseDocument: Encodable, Sendable {
    var provider: Provider
    var app: String
    var cause: String
    var since: Timestamp
    var until: Timestamp
    var requestedUntil: Timestamp?

    init(_ pause: RateLimitPause) {
        provider = pause.provider
        app = pause.app
        cause = pause.cause
        since = pause.since
        until = pause.until
        requestedUntil = pause.requestedUntil
    }
}
