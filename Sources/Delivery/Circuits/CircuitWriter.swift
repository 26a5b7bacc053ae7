package import Postgres
package import Providers
package import PushContract

/// Holds and pauses for pushes that are no deliveries of the queue: the same rows, so that what one way of sending has learnt of a
/// credential or a quota, the others heed. Runs inside the caller's transaction.
package enum CircuitWriter {
    /// What a batch of outcomes came to.
    package struct Report: Sendable {
        package var opened: [Circuit] = []
        package var closed: Set<Int64> = []
        package var paused: [RateLimitPause] = []

        package init() {}
    }

    /// Ends holds before it opens others: what is refuted by one outcome of the batch may be asserted by another.
    package static func write(
        openings: [CircuitOpening],
        circuitsClosed: Set<Int64>,
        pauses: [RateLimitRequest],
        on connection: BlockingConnection
    ) throws -> Report {
        var report = Report()
        report.closed = circuitsClosed
        try CircuitQueries.close(circuitsClosed, on: connection)
        report.opened = Array(try CircuitQueries.open(openings, on: connection).values)
        report.paused = try CircuitQueries.pause(pauses, delays: RetryDelays(), on: connection)
        return report
    }
}

extension CircuitDecision {
    /// As for a delivery: nil when the refusal is not about the credential. A topic is of one kind of push, and says nothing about the
    /// app's others.
    package static func opening(for scope: CircuitScope, after outcome: PushOutcome, random: Double) -> CircuitOpening? {
        guard let classification = outcome.classification, classification.retryClass == .afterFix, outcome.refusalScope != .topic else {
            return nil
        }
        let code = outcome.providerErrorCode ?? classification.reasonCode.rawValue
        let wait = RetryDecision.backOff(RetryDelays().afterFix, attemptNumber: 1, random: random)
        return CircuitOpening(scope: scope, cause: code, probeAfter: wait)
    }

    /// Whether the provider has judged the push itself, and so has taken the credential.
    package static func isCredentialAccepted(_ outcome: PushOutcome) -> Bool {
        isCredentialAccepted(DeliveryResult(outcome, pushType: "").outcome)
    }

    /// Until the try after this one.
    package static func probeInterval(_ circuit: Circuit, random: Double) -> Duration {
        probeInterval(circuit, delays: RetryDelays(), random: random)
    }
}

extension RateLimitDecision {
    /// What an outcome asks for; nil when it says nothing about other pushes of the app.
    package static func request(app: String, after outcome: PushOutcome) -> RateLimitRequest? {
        guard outcome.status != .sent, outcome.refusalScope != .message, outcome.isThrottled || outcome.retryAfter != nil else { return nil }
        return RateLimitRequest(
            provider: .apns,
            app: app,
            cause: outcome.providerErrorCode ?? outcome.reasonCode?.rawValue ?? "",
            retryAfter: outcome.retryAfter
        )
    }
}
