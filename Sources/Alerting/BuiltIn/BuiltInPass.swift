import AlertRules
import Postgres
import PushContract

/// One look at what Pushwatch watches about itself: read, decide, write. Everything it changes, it changes in one transaction.
struct BuiltInPass {
    let pool: PostgresPool
    let lease: AlertLease
    let receivers: ReceiverSet
    let observedSince: Timestamp
    let now: Timestamp

    /// Returns the episodes that began and ended.
    func run() async throws -> [AlertEpisode] {
        let silences = try await SilenceStore.current(at: now, on: pool).filter { $0.isActive(at: now) }
        let openParked = try await EpisodeStore.open(rule: BuiltInAlert.deliveryParked.rawValue, on: pool)
        let troubles = try await troubles(openParked)
        let failing = Set(troubles.map(\.receiver))
        var begun = troubles.filter { trouble in !openParked.contains { $0.labels["receiver"] == trouble.receiver } }
            .map { BuiltInEpisode.deliveryParked($0, now: now) }
        var ended = openParked.filter { !failing.contains($0.labels["receiver"] ?? "") }.map { over($0, at: now) }
        let gap = try await dataGap()
        begun += gap.begun
        ended += gap.ended
        for index in begun.indices { begun[index].silencedBy = silences.first { $0.matches(begun[index].labels) }?.id }
        try await write(begun, ended, failing: failing)
        return begun + ended
    }

    /// The configured receivers that do not work. One that was removed has nothing to repair.
    private func troubles(_ open: [AlertEpisode]) async throws -> [ReceiverTrouble] {
        let known = Set(open.compactMap { $0.labels["receiver"] })
        let configured = Set(receivers.receivers.map(\.name))
        return try await BuiltInStore.receiverTroubles(known, now: now, on: pool).filter {
            configured.contains($0.receiver) && $0.isFiring(wasFiring: known.contains($0.receiver), at: now)
        }
    }

    private func dataGap() async throws -> (begun: [AlertEpisode], ended: [AlertEpisode]) {
        let open = try await EpisodeStore.open(rule: BuiltInAlert.dataGap.rawValue, on: pool).first
        let gap = try await BuiltInStore.dataGap(observedSince: observedSince, now: now, on: pool)
        let isFiring = gap.isFiring(wasFiring: open != nil, at: now)
        if let open { return ([], isFiring ? [] : [over(open, at: gap.newestBeat ?? now)]) }
        if gap.isHolding(wasFiring: false, at: now), let held = gap.uncommittedSince {
            return ([BuiltInEpisode.unwritten(since: held, now: now)], [])
        }
        guard isFiring, let beat = gap.newestBeat else { return ([], []) }
        return ([BuiltInEpisode.dataGap(since: beat, now: now)], [])
    }

    private func over(_ episode: AlertEpisode, at end: Timestamp) -> AlertEpisode {
        var episode = episode
        episode.state = .resolved
        episode.endsAt = end.flooredToMinute()
        episode.resolvedAt = now.flooredToMinute()
        episode.resolvedReason = Transition.Reason.recovered.rawValue
        return episode
    }

    private func write(_ begun: [AlertEpisode], _ ended: [AlertEpisode], failing: Set<String>) async throws {
        guard !begun.isEmpty || !ended.isEmpty else { return }
        let minute = Minute(now) - 1
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            let writer = EpisodeWriter(transaction: transaction, lease: lease, now: now)
            for episode in begun {
                let names = receivers.names(for: episode.severity, rule: episode.rule, labels: episode.labels, besides: failing)
                try await writer.fire(episode, reason: .conditionMet, minute: minute, receivers: names)
            }
            for episode in ended { try await writer.resolve(episode, minute: minute) }
        }
    }
}
