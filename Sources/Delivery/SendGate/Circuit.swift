package import PushContract

/// A credential that is refused: pushes wait until it is accepted again, except for a probe now and then.
package struct Circuit: Sendable, Hashable {
    package var id: Int64
    package var scope: CircuitScope
    /// The provider's code.
    package var cause: String
    package var since: Timestamp
    package var lastRefusedAt: Timestamp
    package var refusals: Int64
    /// Probes made so far, and when the next may go.
    package var probes: Int
    package var nextProbeAt: Timestamp
    /// The other credential that has had its try.
    var probedWith: String?

    package init(
        id: Int64,
        scope: CircuitScope,
        cause: String,
        since: Timestamp,
        lastRefusedAt: Timestamp,
        refusals: Int64,
        probes: Int,
        nextProbeAt: Timestamp,
        probedWith: String? = nil
    ) {
        self.id = id
        self.scope = scope
        self.cause = cause
        self.since = since
        self.lastRefusedAt = lastRefusedAt
        self.refusals = refusals
        self.probes = probes
        self.nextProbeAt = nextProbeAt
        self.probedWith = probedWith
    }
}

/// The first refusal of a circuit, or one more.
package struct CircuitOpening: Sendable, Hashable {
    package var scope: CircuitScope
    package var cause: String
    /// How long until the first probe.
    var probeAfter: Duration

    package init(scope: CircuitScope, cause: String, probeAfter: Duration) {
        self.scope = scope
        self.cause = cause
        self.probeAfter = probeAfter
    }
}
