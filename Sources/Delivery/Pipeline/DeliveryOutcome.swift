package import Postgres
import Providers
package import PushContract

/// All that is written in one transaction about one push: its attempt, what follows for its owner, and what it says about others.
package struct DeliveryOutcome<Consequence: Sendable>: Sendable {
    /// What does not change any more, by reference: an outcome is handed on many times until it is written.
    private final class Facts: Sendable {
        let attempt: Attempt?
        let consequence: Consequence?
        let findings: PushFindings
        let lease: DeliveryLease?
        let intent: Int64?
        let at: Timestamp
        let detail: String

        init(
            attempt: Attempt?,
            consequence: Consequence?,
            findings: PushFindings,
            lease: DeliveryLease?,
            intent: Int64?,
            at: Timestamp,
            detail: String
        ) {
            self.attempt = attempt
            self.consequence = consequence
            self.findings = findings
            self.lease = lease
            self.intent = intent
            self.at = at
            self.detail = detail
        }
    }

    private let facts: Facts
    /// The token was moved to the other environment at this time: the outcome says nothing about the token, and the push is attempted
    /// there.
    var switchedAt: Timestamp?

    /// - Parameters:
    ///   - attempt: nil when nothing was sent.
    ///   - lease: of a delivery of the queue; an outcome whose lease is not valid any more changes nothing.
    ///   - intent: the group of intents in which the push was recorded before it was sent.
    ///   - at: when it was decided.
    ///   - detail: what the provider, or the connection to it, said; for the log.
    package init(
        attempt: Attempt? = nil,
        consequence: Consequence?,
        findings: PushFindings = PushFindings(),
        lease: DeliveryLease? = nil,
        intent: Int64? = nil,
        at: Timestamp,
        detail: String = ""
    ) {
        facts = Facts(
            attempt: attempt,
            consequence: consequence,
            findings: findings,
            lease: lease,
            intent: intent,
            at: at,
            detail: detail
        )
    }

    package var attempt: Attempt? { facts.attempt }
    /// What follows for the owner; nil: nothing.
    package var consequence: Consequence? { facts.consequence }
    package var findings: PushFindings { facts.findings }
    package var lease: DeliveryLease? { facts.lease }
    package var intent: Int64? { facts.intent }
    package var at: Timestamp { facts.at }
    var detail: String { facts.detail }

    /// What is said about its token; nil when it was moved.
    var feedback: TokenFeedback? { switchedAt == nil ? facts.findings.feedback : nil }
    /// What is counted about tokens; nil when it was moved.
    var sample: RefusalSample? { switchedAt == nil ? facts.findings.sample : nil }
}

/// The lease of a delivery, as its owner knows it.
package struct DeliveryLease: Sendable, Hashable {
    package var deliveryId: Int64
    var leaseToken: Int64
    /// Deliveries that were leased together, this one included.
    var leaseSize: Int
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
    /// How long after the start of a transaction with many outcomes the next one begins (`GroupCommit.pause`).
    static var batchInterval: Duration { get }

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
