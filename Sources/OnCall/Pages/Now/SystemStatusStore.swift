import Alerting
import Delivery
import Postgres
import PushContract

/// Reads the system status: a few small tables, and the rollups of each rule's own window.
struct SystemStatusStore: Sendable {
    private let pool: PostgresPool
    private let rules: RulesStore
    private let credentials: CredentialChecker
    private let circuits: @Sendable () async throws -> [Circuit]
    private let limiters: @Sendable () async throws -> [DeactivationLimiter]

    /// - Parameters:
    ///   - circuits: those in force, of `SendStore`.
    ///   - limiters: those that are open, of `DeactivationLimiterStore`.
    init(
        pool: PostgresPool,
        rules: RulesStore,
        credentials: CredentialChecker,
        circuits: @escaping @Sendable () async throws -> [Circuit],
        limiters: @escaping @Sendable () async throws -> [DeactivationLimiter]
    ) {
        self.pool = pool
        self.rules = rules
        self.credentials = credentials
        self.circuits = circuits
        self.limiters = limiters
    }

    /// - Parameter firing: every alert that fires now.
    func read(firing: [Alert], now: Timestamp) async throws -> SystemStatus {
        let names = Set(firing.map(\.rule))
        let (lastHeartbeat, writers) = try await heartbeat(now: now)
        return SystemStatus(
            rules: try await rules.ruleStatuses(now: now).map {
                .init(name: $0.name, isFiring: names.contains($0.name), ruleStatus: $0.ruleStatus)
            },
            credentials: await credentials.states(),
            circuits: try await circuits(),
            limiters: try await limiters(),
            silences: try await SilenceStore.current(at: now, on: pool),
            instances: try await InstanceStore(pool: pool).running(),
            lastHeartbeat: lastHeartbeat,
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
