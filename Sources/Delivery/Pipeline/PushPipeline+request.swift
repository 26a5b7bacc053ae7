package import Providers
package import PushContract

extension PushPipeline {
    /// Makes one request that is no push: it sends nothing to anybody, and leaves no attempt. A refused credential and a rate limit count as
    /// for a push.
    ///
    /// - Parameters:
    ///   - blocked: what follows if the gate does not allow it, or there is no such provider.
    ///   - body: the request and what follows.
    package func request(
        in scope: PushScope,
        blocked: (_ until: Timestamp) -> Kind.Consequence,
        _ body: (any BroadcastProvider) async -> (outcome: PushOutcome, consequence: Kind.Consequence)
    ) async {
        let credential = credential(for: scope)
        let startedAt = now()
        switch gate.admit(scope, credential: credential, lease: nil, now: startedAt) {
        case .blocked(let obstacle): await end(blocked(obstacle.until), lease: nil, at: startedAt)
        case .allowed(let circuitsToClose):
            guard let provider = lookup(scope.provider, scope.app, scope.environment) as? any BroadcastProvider else {
                return await end(blocked(startedAt + SendGate.retryInterval), lease: nil, at: startedAt)
            }
            let (outcome, consequence) = await body(provider)
            let at = now()
            let verdict = await assess(outcome, scope, hasOwnTopic: true, credential: credential, operationKey: "channels", now: at)
            let findings = PushFindings(outcome, in: scope, circuitsToClose: circuitsToClose, verdict: verdict)
            await writer.submit(DeliveryOutcome(consequence: consequence, findings: findings, at: at))
        }
    }
}
