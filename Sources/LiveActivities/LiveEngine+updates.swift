import CoreMetrics
import Delivery
import Metrics
import Providers
import PushContract
import Synchronization

extension LiveEngine {
    /// Workers of a job: the end of a child task is searched for among the children of its group.
    private static let workersTogether = 100

    /// As many workers as there are waiting updates and free slots.
    func updateJobs() -> [Job] {
        let now = now()
        let count = state.withLock { state in
            _ = state.fanOut.resumeBackedOff(now: now)
            let wanted = max(0, min(state.fanOut.waiting, configuration.updatesInFlight) - state.workers)
            state.workers += wanted
            return wanted
        }
        return stride(from: 0, to: count, by: Self.workersTogether).map { .updates(workers: min(Self.workersTogether, count - $0)) }
    }

    func sendUpdates(workers: Int) async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<workers {
                group.addTask {
                    while self.hasLeases, let job = self.nextUpdate() { await self.send(job) }
                    self.state.withLock { $0.workers -= 1 }
                }
            }
        }
    }

    private func nextUpdate() -> FanOutState.Job? {
        let now = now()
        return state.withLock { $0.isDraining ? nil : $0.fanOut.next(now: now, throttles: &$0.throttles) }
    }

    private func send(_ job: FanOutState.Job) async {
        let event = job.recipient.isChannel ? LiveMetrics.Event.broadcast : .update
        let (result, isDeferred) = await attempt(event, push(job), of: job.recipient.key) {
            effect(of: $0, on: job)
        } alerts: { result in
            switch UpdateDecision.after(result, job, now: now()).ending {
            case .sent: job.due.results(isAccepted: job.state.shown(job.due) != nil)
            case .skipped, .over: job.due.results(isAccepted: false)
            // It is tried again.
            case .failed: []
            }
        }
        let finishedAt = now()
        // A token that a limiter keeps rests as a suspect one does.
        let ending =
            isDeferred
            ? .failed(retryAfter: DeviceTokens.suspectPeriod) : UpdateDecision.after(result, job, now: finishedAt).ending
        state.withLock { $0.fanOut.finish(job, ending, now: finishedAt) }
    }

    private func effect(of result: PushResult, on job: FanOutState.Job) -> LiveConsequence.Effect {
        let effect = UpdateDecision.after(result, job, now: now()).effect
        guard case .channel(let channel) = job.recipient.address else { return effect }
        let key = ChannelKey(
            subject: job.state.subject,
            appEnvironment: AppEnvironment(app: job.recipient.app, environment: job.recipient.environment)
        )
        switch effect {
        case .updated(let timestamp, let hash, let budget):
            return .channel(.sent(key, id: channel.id, timestamp: timestamp, stateHash: hash, budgetFullAt: budget))
        // The channel is gone, or never was: asking once more would be answered alike.
        case .tokenDeactivated, .tokenSuspect: return .channel(.gone(key, id: channel.id))
        default: return .nothing
        }
    }

    private func push(_ job: FanOutState.Job) -> Push {
        let operation = "state:\(job.state.timestamp)"
        return Push(
            job.recipient.key.attempt(
                // Another owner's attempts of the same state are other attempts.
                "\(operation):\(job.state.epoch)",
                tokenHash: job.recipient.address.hash,
                app: job.recipient.app,
                environment: job.recipient.environment,
                attemptNumber: job.attemptNumber,
                requestId: "live:\(job.state.subject):\(job.state.timestamp)"
            ),
            messageId: job.recipient.key.operationKey(operation),
            // Only the owner of the subject may send it.
            protection: .intent(isCurrent: { self.hasLeases }),
            token: job.recipient.isChannel ? nil : Push.Token(.update, countsAcceptance: false),
            hasOwnTopic: true
        ) { now in
            LiveMetrics.stateAge.record(duration: max(.zero, now - job.state.builtAt))
            switch job.recipient.address {
            case .token(let token):
                var message = job.state.message(job.due)
                message.priority = job.priority
                return .message(message, to: token)
            case .channel(let channel):
                var push = job.state.broadcast
                push.show(job.state.shown(job.due)?.alert)
                push.priority = job.priority
                return .broadcast(push, to: channel)
            }
        }
    }
}

/// What follows from the outcome of an update. Pure.
enum UpdateDecision {
    static func after(
        _ result: PushResult,
        _ job: FanOutState.Job,
        now: Timestamp
    ) -> (effect: LiveConsequence.Effect, ending: FanOutState.Ending) {
        switch result {
        case .blocked(let obstacle): return (.nothing, .failed(retryAfter: obstacle.until - now))
        case .attempted(let outcome): return after(outcome, job)
        }
    }

    static func after(_ outcome: PushOutcome, _ job: FanOutState.Job) -> (effect: LiveConsequence.Effect, ending: FanOutState.Ending) {
        guard let classification = outcome.classification else {
            return (.updated(timestamp: job.state.timestamp, stateHash: job.state.hash, budgetFullAt: job.budgetFullAt), .sent)
        }
        switch classification.tokenAction {
        case .deactivate: return (.tokenDeactivated(goneAt: outcome.tokenInvalidSince), .over)
        // It may be our own fault; the next state shows it, and a second refusal ends it.
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
