import PushContract

/// Allows one request to a provider. Only `DeliveryRunner` makes permits, and it hands out none without the place where the outcome goes:
/// so nothing can be sent whose attempt, retry and token action are not written.
///
/// It cannot be copied or kept: one permit, one request.
package struct SendPermit: ~Copyable, Sendable {
    fileprivate init() {}
}

/// One delivery from its claim to its written outcome.
struct DeliveryRunner: Sendable {
    let sender: any DeliverySender
    let sendGate: SendGate
    let delays: RetryDelays
    let completions: CompletionBatcher

    /// Returns when the outcome is written, found stale, or given up to the lease's end.
    func make(_ delivery: ClaimedDelivery) async {
        // Time goes on from the database's own reading: this machine's clock may be off.
        let anchor = ContinuousClock.now
        func databaseNow() -> Timestamp { delivery.claimedAt + (ContinuousClock.now - anchor) }
        let credential = sender.credential(for: delivery.provider, app: delivery.app, environment: delivery.environment)
        switch Preflight.decide(delivery, credential: credential, circuits: sendGate.circuits, now: databaseNow()) {
        case .end(let completion):
            await completions.submit(completion)
        case .send(let token, let circuitsToClose):
            let startedAt = databaseNow()
            let result = await sender.send(delivery, to: token, permit: SendPermit())
            let completion = OutcomeDecision.completion(
                of: delivery,
                to: token,
                result: result,
                credential: credential,
                hasOtherEnvironment: hasOtherEnvironment(delivery),
                circuitsToClose: circuitsToClose,
                at: .init(startedAt: startedAt, now: databaseNow()),
                delays: delays,
                random: Double.random(in: 0...1)
            )
            await completions.submit(completion)
        }
    }

    private func hasOtherEnvironment(_ delivery: ClaimedDelivery) -> Bool {
        guard delivery.provider == .apns, delivery.environmentTrial == nil else { return false }
        return !sender.credential(for: .apns, app: delivery.app, environment: delivery.environment.other).isEmpty
    }
}
