import CoreMetrics
import Delivery
import Metrics
import Providers
import PushContract

/// Allows one request to a provider. Only `LiveEngine.make` has one to give, and it writes what comes of it: so no Live Activity push
/// leaves without its attempt, its token action and the guards. It cannot be copied or kept.
struct LivePermit: ~Copyable, Sendable {
    fileprivate init() {}
}

extension LiveEngine {
    /// One push from the question whether it may go to its written outcome. Returns when that is committed, or given up.
    ///
    /// - Parameter effect: what follows for the activity.
    func make(_ push: LivePush, effect: (LivePushResult) -> LiveOutcome.Effect) async -> (result: LivePushResult, isDeferred: Bool) {
        let credential = credential(of: push.appEnvironment)
        let circuitsToClose: [Int64]
        switch sendGate.take(push.appEnvironment, credential: credential, now: now()) {
        case .blocked(let until): return (await block(push, until: until, effect), false)
        case .allowed(let circuits): circuitsToClose = circuits
        }
        let intent: Int64?
        switch await save(push) {
        case .notRecorded(let until): return (await block(push, until: until, effect), false)
        case .recorded(let number): intent = number
        }
        let startedAt = now()
        if let builtAt = push.builtAt { LiveMetrics.stateAge.record(duration: max(.zero, startedAt - builtAt)) }
        let outcome = await request(push, permit: LivePermit(), now: startedAt)
        LiveMetrics.pushed(push.kind.rawValue, outcome.status.rawValue)
        let result = LivePushResult.attempted(outcome)
        var written = LiveOutcome(
            key: push.intent.key,
            tokenHash: push.intent.tokenHash,
            attempt: push.intent.attempt(outcome, at: startedAt),
            effect: effect(result),
            at: now()
        )
        written.intent = intent
        written.addFeedback(outcome, push, credential: credential, circuitsToClose: circuitsToClose, random: Double.random(in: 0...1))
        return (result, await batcher.submit(written))
    }

    private func block(
        _ push: LivePush,
        until: Timestamp,
        _ effect: (LivePushResult) -> LiveOutcome.Effect
    ) async -> LivePushResult {
        let result = LivePushResult.blocked(until: until)
        let consequence = effect(result)
        if !consequence.isNothing {
            await batcher.submit(
                LiveOutcome(key: push.intent.key, tokenHash: push.intent.tokenHash, effect: consequence, at: now())
            )
        }
        return result
    }

    private enum IntentResult {
        case recorded(intent: Int64?)
        case notRecorded(until: Timestamp)
    }

    /// Writes down that the push leaves. What cannot be written down does not leave, nor does what another process took over meanwhile.
    private func save(_ push: LivePush) async -> IntentResult {
        if push.isClaimed { return .recorded(intent: nil) }
        guard let number = await journal.save(push.intent) else { return .notRecorded(until: now() + LiveEngine.intentPause) }
        guard !push.needsLease || hasLeases else {
            journal.withdraw(number)
            return .notRecorded(until: now())
        }
        return .recorded(intent: number)
    }

    /// What could not be written down tries again after this.
    private static let intentPause = Duration.seconds(1)

    /// Names the credential that pushes of a place are sent with, without telling it; "" when there is none.
    func credential(of appEnvironment: AppEnvironment) -> String { lookup(.apns, appEnvironment.app, appEnvironment.environment)?.credential ?? "" }

    private func request(_ push: LivePush, permit: consuming LivePermit, now: Timestamp) async -> PushOutcome {
        switch push.content {
        case .failure(let fault):
            return .failed(Classification(.unknown, retry: .never), code: fault.code, detail: fault.message)
        case .success(.message(let message, let token)):
            guard let provider = lookup(.apns, push.intent.app, push.intent.environment) else { return .withoutCredential }
            let target = PushTarget(provider: .apns, token: token.rawValue, environment: push.intent.environment, app: push.intent.app)
            return await provider.send(message, to: target, attemptId: push.messageId, now: now)
        case .success(.broadcast(let message, let channel)):
            guard let provider = broadcaster(at: push.appEnvironment) else { return .withoutCredential }
            return await provider.broadcast(
                message,
                to: channel,
                in: BroadcastScope(push.appEnvironment),
                attemptId: "\(push.messageId):\(push.intent.attemptNumber)",
                now: now
            )
        }
    }

    /// One request about channels from the question whether it may go to its written outcome. It is no push: nobody is sent anything, and it
    /// leaves no attempt; a refused credential is held as for a push.
    func manage(
        _ claim: ChannelClaim,
        _ request: (any BroadcastProvider, BroadcastScope) async -> (outcome: PushOutcome, effect: ChannelEffect)
    ) async {
        let appEnvironment = claim.appEnvironment
        let credential = credential(of: appEnvironment)
        let startedAt = now()
        let key = ChannelKey(subject: "", appEnvironment: appEnvironment).activity
        switch sendGate.take(appEnvironment, credential: credential, now: startedAt) {
        case .blocked(let until):
            let written = LiveOutcome(
                key: key,
                tokenHash: BroadcastChannel.hash(of: claim.operation),
                effect: .channel(.postponed(claim, until: until)),
                at: startedAt
            )
            await batcher.submit(written)
        case .allowed(let circuitsToClose):
            guard let provider = broadcaster(at: appEnvironment) else {
                let effect = ChannelEffect.postponed(claim, until: startedAt + LiveSendGate.retryInterval)
                await batcher.submit(
                    LiveOutcome(key: key, tokenHash: BroadcastChannel.hash(of: claim.operation), effect: .channel(effect), at: startedAt)
                )
                return
            }
            let (outcome, effect) = await request(provider, BroadcastScope(appEnvironment))
            LiveMetrics.asked(claim.operation, outcome.status.rawValue)
            var written = LiveOutcome(
                key: key,
                tokenHash: BroadcastChannel.hash(of: claim.operation),
                effect: .channel(effect),
                at: now()
            )
            written.addFeedback(outcome, of: appEnvironment, credential: credential, circuitsToClose: circuitsToClose, random: Double.random(in: 0...1))
            await batcher.submit(written)
        }
    }

    private func broadcaster(at appEnvironment: AppEnvironment) -> (any BroadcastProvider)? {
        lookup(.apns, appEnvironment.app, appEnvironment.environment) as? any BroadcastProvider
    }
}

extension BroadcastScope {
    init(_ appEnvironment: AppEnvironment) { self.init(app: appEnvironment.app, environment: appEnvironment.environment) }
}

extension PushOutcome {
    fileprivate static var withoutCredential: PushOutcome {
        .failed(Classification(.auth, retry: .afterFix), code: "NoCredentials", detail: "No APNs credential is configured.")
    }
}

extension LiveOutcome {
    /// What an outcome says beyond its activity: about the token, about tokens in general, about the credential and the quota.
    fileprivate mutating func addFeedback(
        _ outcome: PushOutcome,
        _ push: LivePush,
        credential: String,
        circuitsToClose: [Int64],
        random: Double
    ) {
        addFeedback(outcome, of: push.appEnvironment, credential: credential, circuitsToClose: circuitsToClose, random: random)
        guard !push.isBroadcast else { return }
        // Counted for itself: many updates that arrive must not hide that no start does, nor the other way round.
        let kind = push.kind == .start ? "start tokens" : "update tokens"
        let credentialScope = CredentialScope(
            provider: .apns,
            app: push.intent.app,
            environment: push.intent.environment,
            credential: "\(credential) (\(kind))"
        )
        self.credentialScope = credentialScope
        if outcome.status == .sent {
            verdict = .valid
            sample = RefusalSample(.good, at: credentialScope)
        } else {
            switch outcome.tokenAction {
            case .none: break
            case .suspect:
                verdict = .suspect
                sample = RefusalSample(.ambiguous, at: credentialScope)
            case .deactivate:
                verdict = .deactivate(goneAt: outcome.tokenInvalidSince)
                sample = RefusalSample(.gone, at: credentialScope)
            }
        }
    }

    /// What it says about the credential and the quota.
    fileprivate mutating func addFeedback(
        _ outcome: PushOutcome,
        of appEnvironment: AppEnvironment,
        credential: String,
        circuitsToClose: [Int64],
        random: Double
    ) {
        let scope = CircuitScope(provider: .apns, app: appEnvironment.app, environment: appEnvironment.environment, credential: credential)
        opening = CircuitDecision.opening(for: scope, after: outcome, random: random)
        pause = RateLimitDecision.request(app: appEnvironment.app, after: outcome)
        if CircuitDecision.isCredentialAccepted(outcome) { circuitsClosed = circuitsToClose }
    }
}
