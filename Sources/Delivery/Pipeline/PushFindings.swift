import Providers
import PushContract

/// What the outcome of a push says beyond the push itself: about its token, the credential and the provider's rate limits.
package struct PushFindings: Sendable {
    /// About the environment of a device's token.
    enum EnvironmentUpdate: Sendable, Hashable {
        /// Refused here, and may belong to the other environment. If that was not tried yet, the push is attempted there at once.
        case uncertain(TokenEnvironment)
        /// The trial ended so.
        case resolved(TokenEnvironment, EnvironmentTrial)
    }

    /// Where refusals of the token are counted; nil for a broadcast.
    var credentialScope: CredentialScope?
    package var feedback: TokenFeedback?
    /// What is counted about tokens in general; nil when the outcome says nothing about them.
    package var sample: RefusalSample?
    var tokenEnvironment: EnvironmentUpdate?
    /// The circuit that this refusal opens, unless it is open already.
    package var opening: CircuitOpening?
    /// How often this push was refused while others of its scope were accepted.
    var ownRefusals = 0
    /// Circuits that are closed because the provider accepted the credential.
    var circuitsClosed: [Int64] = []
    package var pause: RateLimitRequest?

    package init() {}

    /// About the credential and the rate limits alone.
    init(
        _ outcome: PushOutcome,
        in scope: PushScope,
        circuitsToClose: [Circuit],
        verdict: GateVerdict
    ) {
        opening = verdict.opening
        ownRefusals = verdict.ownRefusals
        circuitsClosed = CircuitDecision.closed(circuitsToClose, after: outcome)
        pause = RateLimitDecision.request(scope, after: outcome)
    }

    /// About the token, too.
    init(
        _ outcome: PushOutcome,
        of push: Push,
        credential: String,
        circuitsToClose: [Circuit],
        verdict: GateVerdict,
        startedAt: Timestamp
    ) {
        self.init(outcome, in: PushScope(push.identity), circuitsToClose: circuitsToClose, verdict: verdict)
        guard let token = push.token else { return }
        let scope = CredentialScope(
            provider: push.identity.provider,
            app: push.identity.app,
            environment: push.identity.environment,
            credential: token.kind.limiterCredential(credential)
        )
        credentialScope = scope
        let cause = outcome.providerErrorCode ?? outcome.reasonCode?.rawValue ?? ""
        switch outcome.tokenAction {
        case .none where outcome.status == .sent:
            sample = RefusalSample(.good, at: scope)
            if token.countsAcceptance { feedback = push.feedback(.valid, cause: "", in: scope, startedAt: startedAt) }
        case .none: break
        case .suspect:
            sample = RefusalSample(.ambiguous, at: scope)
            feedback = push.feedback(.suspect, cause: cause, in: scope, startedAt: startedAt)
        case .deactivate:
            sample = RefusalSample(.gone, at: scope)
            feedback = push.feedback(.deactivate(goneAt: outcome.tokenInvalidSince), cause: cause, in: scope, startedAt: startedAt)
        }
    }
}
