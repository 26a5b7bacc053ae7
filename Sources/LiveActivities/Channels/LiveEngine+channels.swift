import Delivery
import Logging
import Providers
import PushContract
import Synchronization

extension LiveEngine {
    /// Channels for what waits to be started, and those that are due at once.
    func requestChannels(all: Bool, now: Timestamp) async throws {
        guard stores.channels.policy.makesChannels else { return }
        let subjects = state.withLock { state -> [String] in
            guard all || state.wantedAt.map({ now - $0 >= .seconds(1) || now < $0 }) ?? true else { return [] }
            state.wantedAt = now
            return state.subjects.values.filter { $0.isLive && $0.usesChannels }.map(\.id)
        }
        _ = try await stores.channels.requestMissing(subjects, now: now)
    }

    func channelJobs(now: Timestamp) async throws -> [Job] {
        let available = state.withLock { max(0, LiveEngine.channelsInFlight - $0.managing) }
        let claims = try await stores.channels.claim(limit: available, except: blocked(now: now), now: now)
        state.withLock { $0.managing += claims.count }
        return claims.map { .channel($0) }
    }

    private static let channelsInFlight = 16

    /// One request about a channel, and what follows.
    func serve(_ claim: ChannelClaim) async {
        let policy = stores.channels.policy
        switch claim {
        case .make(let key, let attempts):
            await manage(claim) { provider, scope in
                switch await provider.createChannel(ChannelPolicy.storage, in: scope, now: now()) {
                case .success(let channel):
                    logger.info("a channel was made", metadata: ["match": "\(key.subject)", "app": "\(scope.app)"])
                    return (.answered, .made(key, id: channel.id))
                case .failure(let refusal):
                    logger.warning(
                        "a channel could not be made; activities are updated by tokens",
                        metadata: ["match": "\(key.subject)", "app": "\(scope.app)", "why": "\(refusal)"]
                    )
                    let effect = ChannelDecision.afterRefusal(refusal.outcome, key, attempts: attempts, policy: policy, now: now())
                    return (refusal.outcome, effect)
                }
            }
        case .end(let key, let id, let lastTimestamp, let attempts, let sent, let retiredAt):
            await end(claim, key, id: id, lastTimestamp: lastTimestamp, attempts: attempts, sent: sent, retiredAt: retiredAt)
        case .delete(let key, let id, let attempts):
            await manage(claim) { provider, scope in
                let refusal = await provider.deleteChannel(id, in: scope, now: now()).refusal
                let effect = ChannelDecision.afterDeletion(refusal, key.appEnvironment, id: id, attempts: attempts, now: now())
                return (refusal?.outcome ?? .answered, effect)
            }
        case .deleteOrphan(let appEnvironment, let id):
            await manage(claim) { provider, scope in
                let refusal = await provider.deleteChannel(id, in: scope, now: now()).refusal
                logger.notice("a channel that belongs to no match was deleted", metadata: ["app": "\(scope.app)"])
                return (
                    refusal?.outcome ?? .answered, ChannelDecision.afterDeletion(refusal, appEnvironment, id: id, attempts: 3, now: now())
                )
            }
        case .list(let appEnvironment):
            let askedAt = now()
            await manage(claim) { provider, scope in
                switch await provider.listChannels(in: scope, now: askedAt) {
                case .success(let ids): return (.answered, .listed(appEnvironment, ids: ids, askedAt: askedAt))
                case .failure(let refusal):
                    return (refusal.outcome, .notListed(appEnvironment, refusal: refusal.outcome.providerErrorCode ?? "unknown"))
                }
            }
        }
    }

    /// The end is a push: it leaves its attempt.
    private func end(
        _ claim: ChannelClaim,
        _ key: ChannelKey,
        id: String,
        lastTimestamp: Int64,
        attempts: Int,
        sent: Int,
        retiredAt: Timestamp
    ) async {
        let channel = BroadcastChannel(id: id, storage: ChannelPolicy.storage)
        // A match that is forgotten already has nothing left to say.
        guard let subject = try? await stores.subjects.named([key.subject])[key.subject] else { return }
        let stamp = max(subject.timestamp, lastTimestamp) + 1
        let operation = "end:\(sent + 1)"
        let alerts = sent == 0 ? (try? await stores.subjects.alerts(of: [subject], now: now())[subject.id]) ?? [] : []
        let due = DueAlerts(alerts, after: lastTimestamp, since: nil, now: now())
        let push = Push(
            key.activity.attempt(
                operation,
                tokenHash: channel.hash,
                app: key.appEnvironment.app,
                environment: key.appEnvironment.environment,
                attemptNumber: attempts,
                requestId: "live-end:\(subject.id)"
            ),
            messageId: key.activity.operationKey(operation),
            protection: .intent(isCurrent: { true }),
            token: nil,
            hasOwnTopic: true
        ) { _ in
            .broadcast(LivePayloads.broadcastEnd(subject, timestamp: stamp, endedAt: retiredAt, alert: due.shown?.alert), to: channel)
        }
        let policy = stores.channels.policy
        _ = await attempt(.broadcast, push, of: key.activity) { result in
            switch result {
            case .blocked(let obstacle): return .channel(.postponed(claim, until: obstacle.until))
            case .attempted(let outcome):
                return .channel(
                    ChannelDecision.afterEnd(
                        outcome,
                        key,
                        id: id,
                        sent: sent,
                        attempts: attempts,
                        retiredAt: retiredAt,
                        policy: policy,
                        now: now()
                    )
                )
            }
        } alerts: { result in
            if case .attempted(let outcome) = result, outcome.classification == nil { due.results(isAccepted: true) } else { [] }
        }
    }
}

extension PushOutcome {
    /// A request about channels that was done as asked.
    fileprivate static var answered: PushOutcome { .sent(messageId: nil, httpStatus: 200, latency: .zero) }
}

extension Result where Failure == ChannelRefusal {
    fileprivate var refusal: ChannelRefusal? { if case .failure(let refusal) = self { refusal } else { nil } }
}
