package import PushContract

/// A credential or topic that is refused, or a provider that is down: pushes wait until one is accepted again, except for a probe now and
/// then.
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

extension Circuit {
    /// One line: who refuses what, where and why.
    package var summary: String {
        let detail = [scope.environment.rawValue, scope.platform?.rawValue, scope.topic].compactMap { $0 }.joined(separator: ", ")
        return switch scope.kind {
        case .refused:
            "\(scope.provider) rejects the \(scope.topic == nil ? "credential" : "topic") of \(scope.app) (\(detail)): \(cause)"
        case .failing: "\(scope.provider) answers every push to \(scope.app) (\(detail)) with \(cause)"
        case .unreachable: "\(scope.provider) does not answer pushes to \(scope.app) (\(detail))"
        }
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
