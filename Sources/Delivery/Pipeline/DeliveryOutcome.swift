package import Postgres
import Providers
package import PushContract

/// All that is written in one transaction about one push: its attempt, what follows for its owner, and what it says about others.
package struct DeliveryOutcome<Consequence: Sendable>: Sendable {
    /// Nil when nothing was sent.
    package var attempt: Attempt?
    /// What follows for the owner; nil: nothing.
    package var consequence: Consequence?
    package var findings: PushFindings
    /// The lease of a delivery of the queue; an outcome whose lease is not valid any more changes nothing.
    package var lease: DeliveryLease?
    /// The group of intents in which the push was recorded before it was sent.
    package var intent: Int64?
    /// When it was decided.
    package var at: Timestamp
    /// The token was moved to the other environment at this time: the outcome says nothing about the token, and the push is attempted there.
    var switchedAt: Timestamp?
    /// What the provider, or the connection to it, said; for the log.
    var detail = ""

    package init(
        attempt: Attempt? = nil,
        consequence: Consequence?,
        findings: PushFindings = PushFindings(),
        lease: DeliveryLease? = nil,
        at: Timestamp
    ) {
        self.attempt = attempt
        self.consequence = consequence
        self.findings = findings
        self.lease = lease
        self.at = at
    }
}

extension DeliveryOutcome {
    /// From a provider's answer to its attempt and to what it says about others.
    init(
        of push: Push,
        _ outcome: PushOutcome,
        credential: String,
        circuitsToClose: [Circuit],
        verdict: GateVerdict,
        startedAt: Timestamp,
        at: Timestamp
    ) {
        let findings = PushFindings(
            outcome,
            of: push,
            credential: credential,
            circuitsToClose: circuitsToClose,
            verdict: verdict,
            startedAt: startedAt
        )
        self.init(attempt: Attempt(push.identity, outcome, at: startedAt), consequence: nil, findings: findings, at: at)
        detail = outcome.detail
    }
}

/// The lease of a delivery, as its owner knows it.
package struct DeliveryLease: Sendable, Hashable {
    package var key: LeaseKey
    package var queue: Int32
    package var attemptNumber: Int
    package var expiresAt: Timestamp
    /// The circuit this delivery is the probe of.
    var probeOf: Int64?
    var isCritical = false
    /// Of a delivery with a `collapseId`.
    var newestKeys: NewestKeys?
}

/// What became of an outcome that was handed to the writer.
package enum OutcomeDisposition: Sendable, Hashable {
    case written
    /// Written, and its token was deactivated.
    case tokenDeactivated
    /// Written, and a deactivation limiter kept its token.
    case deactivationDeferred
    /// Its lease belonged to another worker: it changed nothing.
    case stale
    /// It could not be written. The lease, the claim or the intent says later that the outcome is unknown.
    case lost
}

/// Who pushes, and what the outcomes of its pushes mean for it.
package protocol DeliveryKind: Sendable {
    associatedtype Consequence: Sendable

    /// Outcomes of a transaction at most: what comes while it is written waits for all of it.
    static var batchLimit: Int { get }

    /// Writes what outcomes mean for the owner, in the transaction of their attempts. The places of those whose token it gave up.
    func apply(_ outcomes: [DeliveryOutcome<Consequence>], _ context: OutcomeContext, on connection: BlockingConnection) throws -> Set<Int>

    /// Counts an outcome, after its transaction.
    func report(_ outcome: DeliveryOutcome<Consequence>, _ disposition: OutcomeDisposition)
}

/// What the transaction knows when an owner's consequences are written.
package struct OutcomeContext: Sendable {
    /// The places of outcomes whose token a deactivation limiter keeps.
    package var deferred: Set<Int> = []
    /// The places of outcomes whose token was deactivated as one of a device.
    var deactivated: Set<Int> = []
    /// The circuits that these outcomes opened, or that were open already.
    package var circuits: [CircuitScope: Circuit] = [:]
}
