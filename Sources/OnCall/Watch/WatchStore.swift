import Alerting
package import Delivery
package import Postgres
import PushContract

/// Reads what on-call keeps an eye on: a few small tables, and the rollups of each rule's own window.
package struct WatchStore: Sendable {
    private let pool: PostgresPool
    private let rules: RulesStore
    private let credentials: CredentialDesk
    private let holds: @Sendable () async throws -> [SendHold]
    private let breakers: @Sendable () async throws -> [TokenBreaker]

    /// - Parameters:
    ///   - holds: those in force, of `SendStore`.
    ///   - breakers: those that are open, of `TokenBreakerStore`.
    package init(
        pool: PostgresPool,
        rules: RulesStore,
        credentials: CredentialDesk,
        holds: @escaping @Sendable () async throws -> [SendHold],
        breakers: @escaping @Sendable () async throws -> [TokenBreaker]
    ) {
        self.pool = pool
        self.rules = rules
        self.credentials = credentials
        self.holds = holds
        self.breakers = breakers
    }

    /// - Parameter firing: every alert that fires now.
    func read(firing: [AlertEpisode], now: Timestamp) async throws -> WatchData {
        let names = Set(firing.map(\.rule))
        let (beat, writers) = try await heartbeat(now: now)
        return WatchData(
            rules: try await rules.distances(now: now).map {
                .init(name: $0.name, isFiring: names.contains($0.name), distance: $0.distance)
            },
            credentials: await credentials.states(),
            holds: try await holds(),
            breakers: try await breakers(),
            silences: try await SilenceStore.current(at: now, on: pool),
            lastBeat: beat,
            writers: writers
        )
    }

    private func heartbeat(now: Timestamp) async throws -> (Timestamp?, Int) {
        try await pool.query(
            """
            SELECT (SELECT max(minute) FROM writerHeartbeats),
                (SELECT count(DISTINCT writer) FROM writerHeartbeats WHERE minute > \(now - .seconds(300)))
            """
        )[0].decode((Timestamp?, Int).self)
    }
}
