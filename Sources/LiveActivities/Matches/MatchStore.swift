import CoreMetrics
package import Cricket
import Delivery
package import Postgres
package import PushContract

/// The matches' states in PostgreSQL. Safe to use from any task and any number of instances.
package struct MatchStore: Sendable {
    /// How long a match stays after its end.
    package static let retention: Duration = .seconds(48 * 3600)

    private let pool: PostgresPool
    private let wake: @Sendable () -> Void
    private let thresholds: EventThresholds

    /// - Parameter wake: called after a changed state was committed, so that the fan-out of this instance need not wait for its next look.
    package init(pool: PostgresPool, thresholds: EventThresholds = EventThresholds(), wake: @escaping @Sendable () -> Void = {}) {
        self.pool = pool
        self.thresholds = thresholds
        self.wake = wake
    }

    /// Takes in a state: one transaction that locks the match, detects, builds the display state once and stores all of it, or nothing.
    ///
    /// What is not newer is ignored, so a feed may repeat and reorder. Throws `MatchIsOver` when play would go on after the end.
    package func accept(_ score: MatchScore, from source: MatchSource = .pushed, now: Timestamp) async throws -> MatchReceipt {
        let receipt = try await pool.performTransaction { [thresholds] connection in
            try MatchStore.accept(score, source, thresholds, now, connection)
        }
        MatchMetrics.count(receipt)
        if receipt.result == .accepted { wake() }
        return receipt
    }

    private static func accept(
        _ score: MatchScore,
        _ source: MatchSource,
        _ thresholds: EventThresholds,
        _ now: Timestamp,
        _ connection: BlockingConnection
    ) throws -> MatchReceipt {
        while true {
            let stored = try connection.query(MatchQueries.lock(score.matchId)).first.map(StoredMatch.init)
            let memory = stored?.memory ?? MatchMemory()
            let order =
                stored.map {
                    SourceDecision.order(
                        of: source,
                        after: $0.source,
                        confirmedAt: $0.confirmedAt,
                        changedAt: $0.changedAt,
                        now: now
                    )
                } ?? .same
            var receipt = MatchReceipt(
                result: .ignored,
                matchId: score.matchId,
                seq: memory.seq,
                phase: stored?.phase ?? score.phase,
                events: []
            )
            guard let order else { return receipt }
            switch MatchProgress.step(memory, with: score, order, thresholds: thresholds, now: now) {
            case .stale:
                let isRepeated = memory.score.map { !$0.supersedes(score) && score.isSame(as: $0) } ?? false
                receipt.isConfirmed = order == .same && isRepeated
                if receipt.isConfirmed { try connection.execute(MatchQueries.confirm("matchId = \(score.matchId)", now: now)) }
                receipt.result = order == .same || source == .pushed ? .stale : .ignored
                return receipt
            case .afterTheEnd: throw MatchIsOver(matchId: score.matchId)
            case .unchanged(let memory):
                try connection.execute(MatchQueries.remember(memory, source: source, now: now))
                receipt.result = .unchanged
                receipt.seq = memory.seq
                receipt.phase = score.phase
                receipt.isConfirmed = true
                return receipt
            case .changed(let change):
                MatchMetrics.built.increment()
                let isNew = stored == nil
                let query =
                    try isNew
                    ? MatchQueries.insert(change, source: source, now: now) : MatchQueries.update(change, source: source, now: now)
                // Another instance may have had the same first sight: then its row is there now, and this state follows it.
                guard try connection.execute(query) == 1 || !isNew else { continue }
                if let alert = MatchQueries.alert(change, now: now) { try connection.execute(alert) }
                receipt.result = .accepted
                receipt.seq = change.memory.seq
                receipt.phase = score.phase
                receipt.events = change.events.map(\.type)
                receipt.isConfirmed = true
                return receipt
            }
        }
    }

    /// What readers of a match see.
    package struct Display: Sendable, Hashable {
        /// The display state's own bytes.
        package var text: String
        package var seq: Int64
        /// `aps.timestamp`: a heartbeat renews it, and keeps `seq`.
        package var timestamp: Int64
        /// When the feed last said that this is the state.
        package var confirmedAt: Timestamp
        package var feed: FeedState
    }

    /// Nil for an unknown match and for one that ended long ago.
    package func display(_ matchId: String, now: Timestamp) async throws -> Display? {
        try await pool.query(MatchQueries.display(matchId, now: now)).first.map {
            let (text, seq, timestamp, confirmedAt, isLive, freshFor, silent) = try $0.decode(
                (String, Int64, Int64, Timestamp, Bool, Int32, Int32).self
            )
            let feed = FeedState(isLive, confirmedAt, freshFor, silent, now: now)
            return Display(text: text, seq: seq, timestamp: timestamp, confirmedAt: confirmedAt, feed: feed)
        }
    }

    /// The feed answered that nothing has changed of these matches. It confirms the state of those whose source it is.
    func confirm(_ matchIds: Set<String>, from source: MatchSource, now: Timestamp) async throws {
        guard !matchIds.isEmpty else { return }
        try await pool.execute(MatchQueries.confirm("matchId = ANY(\(Array(matchIds))) AND feedUrl = \(source.url)", now: now))
    }

    /// Marks matches whose feed has been silent for long.
    func pauseSilent(since: Timestamp) async throws { try await pool.execute(MatchQueries.pauseSilent(since: since)) }
}
