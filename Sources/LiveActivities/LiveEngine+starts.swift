import CoreMetrics
import Devices
import Providers
import PushContract
import Synchronization

extension LiveEngine {
    /// Claims what the rate and the lane allow.
    func startJobs(now: Timestamp) async throws -> [Job] {
        guard isHolding else { return [] }
        var jobs: [Job] = []
        for subject in state.withLock({ Array($0.subjects.values) }) where subject.isLive {
            let limit = state.withLock { state in
                state.rate.take(max(0, configuration.policy.inFlight - state.starting), now: now)
            }
            guard limit > 0 else { break }
            let claims = try await stores.starts.claim(subject, limit: limit, now: now)
            state.withLock { state in
                state.rate.giveBack(limit - claims.count)
                state.starting += claims.count
            }
            LiveMetrics.startsSent.increment(by: claims.count)
            jobs += claims.map { .start(subject, $0) }
        }
        return jobs
    }

    func send(_ claim: StartClaim, of subject: LiveSubject) async {
        // The newest state there is by now.
        let subject = state.withLock { $0.subjects[subject.id] } ?? subject
        let startedAt = now()
        let outcome: PushOutcome
        do throws(PushFault) {
            let message = try LivePayloads.start(subject, generation: claim.key.generation, now: startedAt)
            outcome = await push(
                message,
                token: claim.token.rawValue,
                app: claim.app,
                environment: claim.environment,
                id: LiveAttempt.operationKey(claim.key, "start") + ":\(claim.attempts)",
                now: startedAt
            )
        } catch {
            outcome = .failed(Classification(.unknown, retry: .never), code: error.code, detail: error.sentence)
        }
        let decision = StartDecision.after(
            .init(outcome.classification, isUnknown: outcome.outcomeUnknown, retryAfter: outcome.retryAfter),
            attempts: claim.attempts,
            delivered: claim.delivered,
            policy: configuration.policy,
            now: now()
        )
        LiveMetrics.started(decision.record)
        LiveMetrics.pushed("start", outcome.status.rawValue)
        var answered = claim
        if outcome.status == .sent { answered.strikeVerdict = .proven }
        if outcome.tokenAction == .suspect { answered.strikeVerdict = .suspect }
        if outcome.tokenAction == .off { answered.strikeVerdict = .off(goneAt: outcome.tokenInvalidSince) }
        let attempt = LiveAttempt.make(
            claim.key,
            "start",
            tokenHash: claim.token.hash,
            app: claim.app,
            environment: claim.environment,
            attemptNumber: claim.attempts,
            at: startedAt,
            requestId: "live-start:\(subject.id)",
            outcome: outcome
        )
        await batcher.submit(
            LiveOutcome(
                key: claim.key,
                tokenHash: claim.token.hash,
                attempt: attempt,
                effect: .started(answered, decision, stateTimestamp: subject.timestamp, stateHash: subject.stateHash),
                at: now()
            )
        )
    }
}

extension PushOutcome {
    /// Of a try whose sender died: nobody knows.
    static var lost: PushOutcome {
        var outcome = PushOutcome.failed(Classification(.network, retry: .never), code: "OutcomeUnknown", detail: "The sender died.")
        outcome.outcomeUnknown = true
        return outcome
    }
}
