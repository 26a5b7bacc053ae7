import CoreMetrics
import Delivery
import Providers
import PushContract
import Synchronization

extension LiveEngine {
    /// Claims what the rate and the queue allow.
    func startJobs(now: Timestamp) async throws -> [Job] {
        guard hasLeases else { return [] }
        let (excluded, hasProbes) = blocked(now: now)
        var jobs: [Job] = []
        for subject in state.withLock({ Array($0.subjects.values) }) where subject.isLive {
            let limit = state.withLock { state in
                let room = max(0, configuration.policy.inFlight - state.starting)
                return state.rate.take(hasProbes ? min(1, room) : room, now: now)
            }
            guard limit > 0 else { break }
            let claims = try await stores.starts.claim(subject, limit: limit, except: excluded, now: now)
            state.withLock { state in
                state.rate.refund(limit - claims.count)
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
        let push = Push(
            claim.key.attempt(
                "start",
                tokenHash: claim.token.hash,
                app: claim.app,
                environment: claim.environment,
                attemptNumber: claim.attempts,
                requestId: "live-start:\(subject.id)"
            ),
            messageId: claim.key.operationKey("start") + ":\(claim.attempts)",
            protection: .claim,
            token: Push.Token(
                .pushToStart,
                registrationVersion: claim.startTokenVersion,
                readAt: claim.claimedAt,
                countsAcceptance: true
            ),
            hasOwnTopic: true
        ) { now throws(PushError) in
            let start = try LivePayloads.start(subject, instance: claim.key.instance, channel: claim.channelId, now: now)
            return .message(start, to: claim.token)
        }
        _ = await attempt(.start, push, of: claim.key) { result in
            let decision = decide(result, claim)
            LiveMetrics.started(decision.record)
            return .started(
                claim,
                decision,
                stateTimestamp: subject.timestamp,
                stateHash: subject.stateHash,
                channelId: claim.channelId
            )
        }
        if claim.channelId != nil { catchUp(claim, startedWith: subject.timestamp) }
    }

    /// A state that was sent while the start was on its way may have missed the phone, which listens from its start on.
    func catchUp(_ claim: StartClaim, startedWith timestamp: Int64) {
        let appEnvironment = AppEnvironment(app: claim.app, environment: claim.environment)
        let channel = ChannelKey(subject: claim.key.subject, appEnvironment: appEnvironment).activity
        let now = now()
        state.withLock { state in
            guard let newest = state.fanOut.state(of: claim.key.subject), newest.timestamp > timestamp else { return }
            state.fanOut.repeatNewest(to: channel, after: stores.channels.policy.catchUp, now: now)
        }
    }

    private func decide(_ result: PushResult, _ claim: StartClaim) -> StartDecision {
        switch result {
        case .blocked(let obstacle): StartDecision(record: .rejected, nextStartAt: obstacle.until)
        case .attempted(let outcome):
            StartDecision.after(
                .init(outcome.classification, isUnknown: outcome.outcomeUnknown, retryAfter: outcome.retryAfter),
                attempts: claim.attempts,
                delivered: claim.delivered,
                policy: configuration.policy,
                now: now()
            )
        }
    }
}
