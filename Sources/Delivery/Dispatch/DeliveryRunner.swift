import Providers
import PushContract

/// One delivery from its claim to its written outcome.
struct DeliveryRunner: Sendable {
    let pipeline: PushPipeline<QueueDeliveries>
    let delays: RetryDelays

    /// Returns when the outcome is written, found stale, or given up to the lease's end.
    ///
    /// - Parameter answered: called with the provider's answer, before it is written.
    /// - Returns: what became of the outcome; nil when there was no attempt.
    func run(_ delivery: ClaimedDelivery, answered: (PushOutcome) -> Void) async -> OutcomeDisposition? {
        // Time goes on from the database's own reading: this machine's clock may be off.
        let claimedAt = delivery.claimedAt
        let anchor = ContinuousClock.now
        let databaseNow: @Sendable () -> Timestamp = { claimedAt + (ContinuousClock.now - anchor) }
        switch Preflight.decide(delivery, now: databaseNow()) {
        case .end(let next):
            await pipeline.end(delivery.consequence(next), lease: delivery.lease, at: databaseNow())
            return nil
        case .send(let token):
            let push = delivery.push(to: token, clock: databaseNow)
            let (result, disposition) = await pipeline.attempt(push, lease: delivery.lease, answered: answered) { result, findings in
                switch result {
                case .blocked(let obstacle):
                    return delivery.consequence(
                        obstacle.circuit.map { .blocked(.open($0), after: nil) } ?? .retry(at: obstacle.until, after: .unknown)
                    )
                case .attempted(let outcome):
                    let next = OutcomeDecision.next(
                        of: delivery,
                        push,
                        after: outcome,
                        &findings,
                        hasOtherEnvironment: hasOtherEnvironment(delivery),
                        now: databaseNow(),
                        delays: delays,
                        random: Double.random(in: 0...1)
                    )
                    return delivery.consequence(next, after: outcome)
                }
            }
            return if case .attempted = result { disposition } else { nil }
        }
    }

    private func hasOtherEnvironment(_ delivery: ClaimedDelivery) -> Bool {
        guard delivery.provider == .apns, delivery.environmentTrial == nil else { return false }
        let other = AppEnvironment(app: delivery.app, environment: delivery.environment.other)
        return !pipeline.credential(for: PushScope(apns: other)).isEmpty
    }
}
