import Delivery
package import Providers
package import PushContract

/// What follows from the answers to channel requests. Pure.
enum ChannelDecision {
    /// A channel could not be made. It is tried again later; what another try cannot change stops the creation of channels in this app for
    /// a while.
    static func afterRefusal(
        _ outcome: PushOutcome,
        _ key: ChannelKey,
        attempts: Int,
        policy: ChannelPolicy,
        now: Timestamp
    ) -> ChannelEffect {
        let refusal = outcome.providerErrorCode ?? outcome.reasonCode?.rawValue ?? "unknown"
        let retryAt = now + wait(after: attempts, outcome.retryAfter)
        switch outcome.retryClass {
        case .now, .backoff: return .notMade(key, refusal: refusal, retryAt: retryAt, pausedUntil: nil)
        case .afterFix, .never:
            return .notMade(key, refusal: refusal, retryAt: max(retryAt, now + policy.refusalPause), pausedUntil: now + policy.refusalPause)
        }
    }

    /// - Parameter sent: how often the end had been sent before.
    static func afterEnd(
        _ outcome: PushOutcome,
        _ key: ChannelKey,
        id: String,
        sent: Int,
        attempts: Int,
        retiredAt: Timestamp,
        policy: ChannelPolicy,
        now: Timestamp
    ) -> ChannelEffect {
        guard let classification = outcome.classification else {
            let next = sent < policy.endRepeats.count ? retiredAt + policy.endRepeats[sent] : nil
            return .ended(key, id: id, sent: sent + 1, nextAt: next.map { max($0, now + .seconds(1)) })
        }
        let isOver = classification.retryClass == .never || now - retiredAt > LiveEnd.giveUpAfter
        return .ended(key, id: id, sent: sent, nextAt: isOver ? nil : now + endWait(after: attempts, outcome.retryAfter))
    }

    static func afterDeletion(
        _ refusal: ChannelRefusal?,
        _ appEnvironment: AppEnvironment,
        id: String,
        attempts: Int,
        now: Timestamp
    ) -> ChannelEffect {
        guard let refusal, !refusal.isMissing else { return .deleted(appEnvironment, id: id) }
        return .notDeleted(appEnvironment, id: id, retryAt: now + wait(after: attempts, refusal.outcome.retryAfter))
    }

    static func wait(after attempts: Int, _ retryAfter: Duration?) -> Duration {
        wait([.seconds(5), .seconds(30), .seconds(120), .seconds(600)], after: attempts, retryAfter)
    }

    /// An end has to get there, and soon.
    private static func endWait(after attempts: Int, _ retryAfter: Duration?) -> Duration {
        wait([.seconds(2), .seconds(10), .seconds(30), .seconds(120), .seconds(600)], after: attempts, retryAfter)
    }

    private static func wait(_ waits: [Duration], after attempts: Int, _ retryAfter: Duration?) -> Duration {
        max(waits[min(max(attempts, 1), waits.count) - 1], retryAfter ?? .zero)
    }
}

extension BroadcastChannel {
    /// As an attempt names it: the id itself lets a device subscribe.
    package var hash: TokenHash { BroadcastChannel.hash(of: id) }

    static func hash(of id: String) -> TokenHash {
        // Any text can be hashed but an empty one, which names no channel.
        (try? TokenHash.fcm(id)) ?? TokenHash(rawValue: "sha256:" + String(repeating: "0", count: 64))!
    }
}
