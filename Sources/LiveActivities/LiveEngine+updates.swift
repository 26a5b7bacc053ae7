import CoreMetrics
import Devices
import Metrics
import Providers
import PushContract
import Synchronization

extension LiveEngine {
    /// As many workers as there is work and room for.
    func updateJobs() -> [Job] {
        let now = now()
        let count = state.withLock { state in
            _ = state.board.wakeRested(now: now)
            let wanted = max(0, min(state.board.waiting, configuration.updatesInFlight) - state.workers)
            state.workers += wanted
            return wanted
        }
        return Array(repeating: .updates, count: count)
    }

    func sendUpdates() async {
        while isHolding, let job = nextUpdate() { await send(job) }
        state.withLock { $0.workers -= 1 }
    }

    private func nextUpdate() -> FanOutBoard.Job? {
        let now = now()
        return state.withLock { $0.board.next(now: now) }
    }

    private func send(_ job: FanOutBoard.Job) async {
        let recipient = job.recipient
        let startedAt = now()
        LiveMetrics.stateAge.record(duration: max(.zero, startedAt - job.state.builtAt))
        var message = job.state.message
        message.priority = job.priority
        let what = "state:\(job.state.timestamp)"
        let outcome = await push(
            message,
            token: recipient.token.rawValue,
            app: recipient.app,
            environment: recipient.environment,
            id: LiveAttempt.operationKey(recipient.key, what),
            now: startedAt
        )
        LiveMetrics.pushed("update", outcome.status.rawValue)
        let attempt = LiveAttempt.make(
            recipient.key,
            what,
            tokenHash: recipient.token.hash,
            app: recipient.app,
            environment: recipient.environment,
            attemptNumber: job.attemptNumber,
            at: startedAt,
            requestId: "live:\(job.state.subject):\(job.state.timestamp)",
            outcome: outcome
        )
        let (effect, ending) = UpdateDecision.after(outcome, state: job.state)
        await batcher.submit(
            LiveOutcome(key: recipient.key, tokenHash: recipient.token.hash, attempt: attempt, effect: effect, at: now())
        )
        let finishedAt = now()
        state.withLock { $0.board.finish(job, ending, now: finishedAt) }
    }

    func push(
        _ message: PushMessage,
        token: String,
        app: String,
        environment: PushEnvironment,
        id: String,
        now: Timestamp
    ) async -> PushOutcome {
        guard let provider = lookup(.apns, app, environment) else {
            return .failed(Classification(.auth, retry: .afterFix), code: "NoCredentials", detail: "No APNs credential is configured.")
        }
        let target = PushTarget(provider: .apns, token: token, environment: environment, app: app)
        return await provider.send(message, to: target, attemptId: id, now: now)
    }
}

/// What follows from the outcome of an update. Pure.
enum UpdateDecision {
    static func after(_ outcome: PushOutcome, state: PublishedState) -> (LiveOutcome.Effect, FanOutBoard.Ending) {
        guard let classification = outcome.classification else {
            return (.updated(timestamp: state.timestamp, stateHash: state.hash), .sent)
        }
        switch classification.tokenAction {
        case .off: return (.tokenOff(goneAt: outcome.tokenInvalidSince), .over)
        // It may be our own fault; the next state tells, and a second refusal ends it.
        case .suspect: return (.tokenSuspect, .skipped)
        case .none: break
        }
        switch classification.retryClass {
        case .never: return (.nothing, .skipped)
        case .afterFix: return (.nothing, .failed(retryAfter: max(.seconds(60), outcome.retryAfter ?? .zero)))
        case .now, .backoff: return (.nothing, .failed(retryAfter: outcome.retryAfter))
        }
    }
}
