import Delivery
import Providers
import PushContract
import Synchronization

extension LiveEngine {
    func endJobs(now: Timestamp) async throws -> [Job] {
        let room = state.withLock { max(0, configuration.endsInFlight - $0.ending) }
        guard room > 0 else { return [] }
        let (excluded, hasProbes) = blocked(now: now)
        let claims = try await stores.ends.claim(limit: hasProbes ? 1 : room, except: excluded, now: now)
        guard !claims.isEmpty else { return [] }
        let subjects = try await stores.subjects.subjects(Array(Set(claims.map(\.key.subject))))
        let known = Dictionary(uniqueKeysWithValues: subjects.map { ($0.id, $0) })
        let jobs = claims.compactMap { claim in known[claim.key.subject].map { Job.end($0, claim) } }
        state.withLock { $0.ending += jobs.count }
        return jobs
    }

    func send(_ claim: EndClaim, of subject: LiveSubject) async {
        // Later than anything the device was sent.
        let stamp = max(subject.timestamp, claim.lastTimestamp + 1)
        let push = Push(
            claim.key.attempt(
                "end",
                tokenHash: claim.token.hash,
                app: claim.app,
                environment: claim.environment,
                attemptNumber: claim.attempts,
                requestId: "live-end:\(subject.id)"
            ),
            messageId: claim.key.operationKey("end"),
            protection: .intent(isCurrent: { true }),
            token: Push.Token(.update, countsAcceptance: false),
            hasOwnTopic: true
        ) { now throws(PushError) in
            .message(try LivePayloads.end(subject, timestamp: stamp, reason: claim.reason, now: now), to: claim.token)
        }
        _ = await attempt(.end, push, of: claim.key) { result in
            switch result {
            case .blocked(let obstacle): return .ended(retryAt: obstacle.until)
            case .attempted(let outcome):
                let isDefinite = outcome.classification.map { $0.retryClass == .never } ?? true
                let retryAt = isDefinite ? nil : now() + EndStore.wait(after: claim.attempts, retryAfter: outcome.retryAfter)
                return .ended(retryAt: retryAt)
            }
        }
    }
}
