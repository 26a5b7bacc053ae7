import CoreMetrics
import Delivery
import Providers
import PushContract

extension LiveEngine {
    /// One push through the pipeline. Returns when its outcome is committed, or given up.
    ///
    /// - Parameters:
    ///   - effect: what follows for the activity.
    ///   - alerts: what became of alerts.
    func attempt(
        _ event: LiveMetrics.Event,
        _ push: Push,
        of key: ActivityKey,
        effect: (PushResult) -> LiveConsequence.Effect,
        alerts: (PushResult) -> [AlertResult]
    ) async -> (result: PushResult, isDeferred: Bool) {
        let (result, disposition) = await pipeline.attempt(push) { result, _ in
            let effect = effect(result)
            switch result {
            case .attempted(let outcome): LiveMetrics.pushed(event, outcome.status)
            case .blocked: if effect.isNothing { return nil }
            }
            return LiveConsequence(key: key, effect: effect, alerts: alerts(result))
        }
        return (result, disposition == .deactivationDeferred)
    }

    /// One request about channels: it is no push, and leaves no attempt.
    func manage(
        _ claim: ChannelClaim,
        _ request: (any BroadcastProvider, BroadcastScope) async -> (outcome: PushOutcome, effect: ChannelEffect)
    ) async {
        let scope = claim.appEnvironment
        let key = ChannelKey(subject: "", appEnvironment: scope).activity
        await pipeline.request(in: PushScope(apns: scope)) { until in
            LiveConsequence(key: key, effect: .channel(.postponed(claim, until: until)))
        } _: { provider in
            let (outcome, effect) = await request(provider, BroadcastScope(app: scope.app, environment: scope.environment))
            LiveMetrics.asked(claim.operation, outcome.status.rawValue)
            return (outcome, LiveConsequence(key: key, effect: .channel(effect)))
        }
    }

    /// Names the credential that pushes of a place are sent with, without disclosing it; "" when there is none.
    func credential(of appEnvironment: AppEnvironment) -> String { pipeline.credential(for: PushScope(apns: appEnvironment)) }
}
