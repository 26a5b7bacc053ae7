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
    func make(_ push: LivePush, effect: (LivePushResult) -> LiveOutcome.Effect) async -> (result: LivePushResult, isWithheld: Bool) {
        let credential = credential(of: push.place)
        let proves: [Int64]
        switch standstill.take(push.place, credential: credential, now: now()) {
        case .keptBack(let until): return (await keepBack(push, until: until, effect), false)
        case .free(let holds): proves = holds
        }
        let intent: Int64?
        switch await keep(push) {
        case .mayNotLeave(let until): return (await keepBack(push, until: until, effect), false)
        case .mayLeave(let number): intent = number
        }
        let startedAt = now()
        if let builtAt = push.builtAt { LiveMetrics.stateAge.record(duration: max(.zero, startedAt - builtAt)) }
        let outcome = await request(push, permit: LivePermit(), now: startedAt)
        LiveMetrics.pushed(push.kind.rawValue, outcome.status.rawValue)
        let result = LivePushResult.tried(outcome)
        var written = LiveOutcome(
            key: push.intent.key,
            tokenHash: push.intent.tokenHash,
            attempt: push.intent.attempt(outcome, at: startedAt),
            effect: effect(result),
            at: now()
        )
        written.intent = intent
        written.judge(outcome, push, credential: credential, proves: proves, random: Double.random(in: 0...1))
        return (result, await batcher.submit(written))
    }

    private func keepBack(
        _ push: LivePush,
        until: Timestamp,
        _ effect: (LivePushResult) -> LiveOutcome.Effect
    ) async -> LivePushResult {
        let result = LivePushResult.keptBack(until: until)
        let consequence = effect(result)
        if !consequence.isNothing {
            await batcher.submit(
                LiveOutcome(key: push.intent.key, tokenHash: push.intent.tokenHash, effect: consequence, at: now())
            )
        }
        return result
    }

    private enum Leave {
        case mayLeave(intent: Int64?)
        case mayNotLeave(until: Timestamp)
    }

    /// Writes down that the push leaves. What cannot be written down does not leave, nor does what another process took over meanwhile.
    private func keep(_ push: LivePush) async -> Leave {
        if push.isClaimed { return .mayLeave(intent: nil) }
        guard let number = await journal.keep(push.intent) else { return .mayNotLeave(until: now() + LiveEngine.intentPause) }
        guard !push.needsLease || isHolding else {
            journal.withdraw(number)
            return .mayNotLeave(until: now())
        }
        return .mayLeave(intent: number)
    }

    /// What could not be written down tries again after this.
    private static let intentPause = Duration.seconds(1)

    /// Names the credential that pushes of a place are sent with, without telling it; "" when there is none.
    func credential(of place: LivePlace) -> String { lookup(.apns, place.app, place.environment)?.credential ?? "" }

    private func request(_ push: LivePush, permit: consuming LivePermit, now: Timestamp) async -> PushOutcome {
        switch push.content {
        case .failure(let fault):
            return .failed(Classification(.unknown, retry: .never), code: fault.code, detail: fault.sentence)
        case .success(.message(let message, let token)):
            guard let provider = lookup(.apns, push.intent.app, push.intent.environment) else { return .withoutCredential }
            let target = PushTarget(provider: .apns, token: token.rawValue, environment: push.intent.environment, app: push.intent.app)
            return await provider.send(message, to: target, attemptId: push.messageId, now: now)
        case .success(.broadcast(let message, let channel)):
            guard let provider = broadcaster(at: push.place) else { return .withoutCredential }
            return await provider.broadcast(
                message,
                to: channel,
                in: BroadcastScope(push.place),
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
        let place = claim.place
        let credential = credential(of: place)
        let startedAt = now()
        let key = ChannelKey(subject: "", place: place).activity
        switch standstill.take(place, credential: credential, now: startedAt) {
        case .keptBack(let until):
            let written = LiveOutcome(
                key: key,
                tokenHash: BroadcastChannel.hash(of: claim.operation),
                effect: .channel(.postponed(claim, until: until)),
                at: startedAt
            )
            await batcher.submit(written)
        case .free(let proves):
            guard let provider = broadcaster(at: place) else {
                let effect = ChannelEffect.postponed(claim, until: startedAt + StandstillBoard.patience)
                await batcher.submit(
                    LiveOutcome(key: key, tokenHash: BroadcastChannel.hash(of: claim.operation), effect: .channel(effect), at: startedAt)
                )
                return
            }
            let (outcome, effect) = await request(provider, BroadcastScope(place))
            LiveMetrics.asked(claim.operation, outcome.status.rawValue)
            var written = LiveOutcome(
                key: key,
                tokenHash: BroadcastChannel.hash(of: claim.operation),
                effect: .channel(effect),
                at: now()
            )
            written.judge(outcome, of: place, credential: credential, proves: proves, random: Double.random(in: 0...1))
            await batcher.submit(written)
        }
    }

    private func broadcaster(at place: LivePlace) -> (any BroadcastProvider)? {
        lookup(.apns, place.app, place.environment) as? any BroadcastProvider
    }
}

extension BroadcastScope {
    init(_ place: LivePlace) { self.init(app: place.app, environment: place.environment) }
}

extension PushOutcome {
    fileprivate static var withoutCredential: PushOutcome {
        .failed(Classification(.auth, retry: .afterFix), code: "NoCredentials", detail: "No APNs credential is configured.")
    }
}

extension LiveOutcome {
    /// What an outcome says beyond its activity: about the token, about tokens in general, about the credential and the quota.
    fileprivate mutating func judge(
        _ outcome: PushOutcome,
        _ push: LivePush,
        credential: String,
        proves: [Int64],
        random: Double
    ) {
        judge(outcome, of: push.place, credential: credential, proves: proves, random: random)
        guard !push.isBroadcast else { return }
        // Counted for itself: many updates that arrive must not hide that no start does, nor the other way round.
        let kind = push.kind == .start ? "start tokens" : "update tokens"
        let place = CredentialPlace(
            provider: .apns,
            app: push.intent.app,
            environment: push.intent.environment,
            credential: "\(credential) (\(kind))"
        )
        self.place = place
        if outcome.status == .sent {
            verdict = .proven
            judgement = TokenJudgement(.good, at: place)
        } else {
            switch outcome.tokenAction {
            case .none: break
            case .suspect:
                verdict = .suspect
                judgement = TokenJudgement(.ambiguous, at: place)
            case .off:
                verdict = .off(goneAt: outcome.tokenInvalidSince)
                judgement = TokenJudgement(.gone, at: place)
            }
        }
    }

    /// What it says about the credential and the quota.
    fileprivate mutating func judge(
        _ outcome: PushOutcome,
        of place: LivePlace,
        credential: String,
        proves: [Int64],
        random: Double
    ) {
        let scope = HoldScope(provider: .apns, app: place.app, environment: place.environment, credential: credential)
        opening = HoldDecision.opening(for: scope, after: outcome, random: random)
        pause = PauseDecision.request(app: place.app, after: outcome)
        if HoldDecision.isCredentialTaken(outcome) { releases = proves }
    }
}
