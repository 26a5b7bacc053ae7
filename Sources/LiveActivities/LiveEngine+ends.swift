import Devices
import Providers
import PushContract
import Synchronization

extension LiveEngine {
    func endJobs(now: Timestamp) async throws -> [Job] {
        let room = state.withLock { max(0, configuration.endsInFlight - $0.ending) }
        guard room > 0 else { return [] }
        let claims = try await stores.ends.claim(limit: room, now: now)
        guard !claims.isEmpty else { return [] }
        let subjects = try await stores.subjects.subjects(Array(Set(claims.map(\.key.subject))))
        let known = Dictionary(uniqueKeysWithValues: subjects.map { ($0.id, $0) })
        let jobs = claims.compactMap { claim in known[claim.key.subject].map { Job.end($0, claim) } }
        state.withLock { $0.ending += jobs.count }
        return jobs
    }

    func send(_ claim: EndClaim, of subject: LiveSubject) async {
        let startedAt = now()
        // Later than anything the device was sent.
        let stamp = max(subject.timestamp, claim.lastTimestamp + 1)
        let outcome: PushOutcome
        do throws(PushFault) {
            let message = try LivePayloads.end(subject, timestamp: stamp, reason: claim.reason, now: startedAt)
            outcome = await push(
                message,
                token: claim.token.rawValue,
                app: claim.app,
                environment: claim.environment,
                id: LiveAttempt.operationKey(claim.key, "end"),
                now: startedAt
            )
        } catch {
            outcome = .failed(Classification(.unknown, retry: .never), code: error.code, detail: error.sentence)
        }
        LiveMetrics.pushed("end", outcome.status.rawValue)
        let attempt = LiveAttempt.make(
            claim.key,
            "end",
            tokenHash: claim.token.hash,
            app: claim.app,
            environment: claim.environment,
            attemptNumber: claim.attempts,
            at: startedAt,
            requestId: "live-end:\(subject.id)",
            outcome: outcome
        )
        let isDefinite = outcome.classification.map { $0.retryClass == .never } ?? true
        let retryAt = isDefinite ? nil : now() + EndStore.wait(after: claim.attempts, retryAfter: outcome.retryAfter)
        await batcher.submit(
            LiveOutcome(key: claim.key, tokenHash: claim.token.hash, attempt: attempt, effect: .ended(retryAt: retryAt), at: now())
        )
    }
}
