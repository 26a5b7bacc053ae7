import Logging
import Providers
import PushContract
import Synchronization

/// One delivery from its claim to its outcome. By reference, as each delivery under way uses it.
final class DeliveryRunner: Sendable {
    private let pipeline: PushPipeline<QueueDeliveries>
    private let delays: RetryDelays
    private let logger: Logger
    /// What was logged of tokens that cannot be decrypted: each key once.
    private let loggedFaults = Mutex<Set<TokenCipherError>>([])

    init(pipeline: PushPipeline<QueueDeliveries>, delays: RetryDelays, logger: Logger) {
        self.pipeline = pipeline
        self.delays = delays
        self.logger = logger
    }

    /// Returns when the outcome is handed to its writer.
    ///
    /// - Parameters:
    ///   - answered: called with the provider's answer, before it is written.
    ///   - written: called when the outcome is written, found stale, or given up to the lease's end. Nil: there was no attempt.
    func run(
        _ started: StartedDelivery,
        answered: (PushOutcome) -> Void,
        written: @escaping @Sendable (OutcomeDisposition?) -> Void
    ) async {
        switch prepare(started) {
        case .end(let next, let at):
            end(started, next, at: at, written)
        case .send(let push):
            await pipeline.attempt(push, answered: answered, written: written) { result, findings in
                consequence(of: result, started.delivery, push.push, &findings)
            }
        }
    }

    private enum Prepared {
        case send(PreparedPush)
        indirect case end(DeliveryNext, at: Timestamp)
    }

    @inline(never)
    private func end(
        _ started: StartedDelivery,
        _ next: DeliveryNext,
        at: Timestamp,
        _ written: @escaping @Sendable (OutcomeDisposition?) -> Void
    ) {
        pipeline.end(started.delivery.consequence(next), lease: started.delivery.lease, at: at, written: written)
    }

    /// What the task keeps while it waits is to be small (`PushPipeline.perform`).
    @inline(never)
    private func prepare(_ started: StartedDelivery) -> Prepared {
        let delivery = started.delivery
        // Time goes on from the database's own reading: this machine's clock may be off.
        let (claimedAt, receivedAt) = (delivery.claimedAt, delivery.receivedAt)
        let databaseNow: @Sendable () -> Timestamp = { claimedAt + (ContinuousClock.now - receivedAt) }
        if let fault = delivery.unreadable { log(fault) }
        switch Preflight.decide(delivery, now: databaseNow()) {
        case .end(let next): return .end(next, at: databaseNow())
        case .send(let token):
            return .send(PreparedPush(delivery.push(to: token, clock: databaseNow), lease: delivery.lease, now: pipeline.now()))
        }
    }

    private func log(_ fault: TokenCipherError) {
        guard loggedFaults.withLock({ $0.insert(fault).inserted }) else { return }
        logger.error(
            fault.isKeyMissing ? "a key of push tokens is missing; deliveries wait" : "push tokens are damaged; deliveries end",
            metadata: ["error": "\(fault)"]
        )
    }

    @inline(never)
    private func consequence(
        of result: PushResult,
        _ delivery: ClaimedDelivery,
        _ push: Push,
        _ findings: inout PushFindings
    ) -> QueueConsequence {
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
                now: push.clock?() ?? pipeline.now(),
                delays: delays,
                random: Double.random(in: 0...1)
            )
            return delivery.consequence(next, after: outcome)
        }
    }

    private func hasOtherEnvironment(_ delivery: ClaimedDelivery) -> Bool {
        guard delivery.provider == .apns, delivery.environmentTrial == nil else { return false }
        let other = AppEnvironment(app: delivery.app, environment: delivery.environment.other)
        return !pipeline.credential(for: PushScope(apns: other)).isEmpty
    }
}
