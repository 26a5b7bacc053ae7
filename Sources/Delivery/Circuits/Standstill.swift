package import Postgres
package import Providers
package import PushContract

/// Holds and pauses for pushes that are no deliveries of the queue: the same rows, so that what one way of sending has learnt of a
/// credential or a quota, the others heed. Runs inside the caller's transaction.
package enum Standstill {
    /// What a batch of outcomes came to.
    package struct Report: Sendable {
        package var opened: [SendHold] = []
        package var released: Set<Int64> = []
        package var paused: [LanePause] = []

        package init() {}
    }

    /// Ends holds before it opens others: what is refuted by one outcome of the batch may be asserted by another.
    package static func write(
        openings: [HoldOpening],
        releases: Set<Int64>,
        pauses: [PauseRequest],
        on connection: BlockingConnection
    ) throws -> Report {
        var report = Report()
        report.released = releases
        try HoldQueries.release(releases, on: connection)
        report.opened = Array(try HoldQueries.open(openings, on: connection).values)
        report.paused = try HoldQueries.pause(pauses, delays: RetryDelays(), on: connection)
        return report
    }
}

extension HoldDecision {
    /// As for a delivery: nil when the refusal is not about the credential. A topic is of one kind of push, and says nothing about the
    /// app's others.
    package static func opening(for scope: HoldScope, after outcome: PushOutcome, random: Double) -> HoldOpening? {
        guard let classification = outcome.classification, classification.retryClass == .afterFix, outcome.reach != .topic else {
            return nil
        }
        let code = outcome.providerErrorCode ?? classification.reasonCode.rawValue
        let wait = RetryDecision.grown(RetryDelays().afterFix, attemptNumber: 1, random: random)
        return HoldOpening(scope: scope, cause: code, probeAfter: wait)
    }

    /// Whether the provider has judged the push itself, and so has taken the credential.
    package static func isCredentialTaken(_ outcome: PushOutcome) -> Bool {
        isCredentialTaken(DeliveryResult(outcome, pushType: "").outcome)
    }

    /// Until the try after this one.
    package static func probeInterval(_ hold: SendHold, random: Double) -> Duration {
        probeInterval(hold, delays: RetryDelays(), random: random)
    }
}

extension PauseDecision {
    /// What an outcome asks for; nil when it says nothing about other pushes of the app.
    package static func request(app: String, after outcome: PushOutcome) -> PauseRequest? {
        guard outcome.status != .sent, outcome.reach != .message, outcome.isThrottled || outcome.retryAfter != nil else { return nil }
        return PauseRequest(
            provider: .apns,
            app: app,
            cause: outcome.providerErrorCode ?? outcome.reasonCode?.rawValue ?? "",
            retryAfter: outcome.retryAfter
        )
    }
}
