package import Logging
import Metrics
import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Follows how far a replica is behind, and says whether it may be read.
///
/// Only what people look at is read there: its commits appear in another order and later, so nothing may be decided from it. Safe to share.
package final class ReplicaWatch: Service, Sendable {
    /// On the replica.
    package let pool: PostgresPool
    private let primary: PostgresPool
    private let mostLag: Duration
    private let interval: Duration
    private let logger: Logger
    private let state = Mutex(State())
    private static let lag = Gauge(label: "pushwatch_database_replica_lag_seconds")
    private static let fallbacks = Counter(label: "pushwatch_database_replica_fallbacks_total")

    private struct State {
        var lag = ReplicaLag()
        var lastWrite: ContinuousClock.Instant?
        /// Nil until that is known: a replica needs a moment to show what the first sample says.
        var isInUse: Bool?
        var firstLook: ContinuousClock.Instant?
    }

    private struct Identity: Equatable {
        var system: String
        var database: String
    }

    /// - Parameter mostLag: of a replica that is further behind nothing is read.
    package init(pool: PostgresPool, primary: PostgresPool, mostLag: Duration, interval: Duration = .seconds(2), logger: Logger) {
        self.pool = pool
        self.primary = primary
        self.mostLag = mostLag
        self.interval = interval
        self.logger = logger
    }

    package func run() async throws {
        try await PeriodicService("replica", every: self.interval, logger: logger, state: ()) { _ in await self.look() }.run()
    }

    /// How old what the replica shows is, at most; nil where the primary is to be read: the replica is away or too far behind, or does not
    /// show yet what was written through this instance.
    package func age() -> Duration? {
        let now = ContinuousClock.now
        return state.withLock { state in
            guard let shownUntil = state.lag.shownUntil, now - shownUntil <= mostLag else { return nil }
            if let lastWrite = state.lastWrite, shownUntil < lastWrite { return nil }
            return now - shownUntil
        }
    }

    /// Somebody changed something through this instance: the replica is read again when it shows that.
    package func noteWrite() { state.withLock { $0.lastWrite = .now } }

    /// Something was read from the primary although there is a replica.
    package func noteFallback() { ReplicaWatch.fallbacks.increment() }

    /// One question to each side.
    package func look() async {
        do {
            let moment = ContinuousClock.now
            let (position, origin) = try await end(of: primary, "pg_current_wal_lsn()")
            state.withLock { state in
                state.lag.observe(primary: position, at: moment)
                state.firstLook = state.firstLook ?? moment
            }
            let (replayed, copy) = try await end(of: pool, "pg_last_wal_replay_lsn()")
            guard origin == copy else { throw PostgresError(.connectionFailure, "it is not a copy of this database") }
            state.withLock { $0.lag.observe(replica: replayed) }
            report(nil)
        } catch {
            if Task.isCancelled { return }
            state.withLock { $0.lag.forget() }
            report("\(error)")
        }
    }

    private func end(of pool: PostgresPool, _ function: String) async throws -> (Int64, Identity) {
        let rows = try await pool.query(
            """
            SELECT pg_wal_lsn_diff(\(raw: function), '0/0')::bigint, pg_is_in_recovery(), system_identifier::text, current_database()::text
            FROM pg_control_system()
            """
        )
        let (position, isReplica, system, database) = try rows[0].decode((Int64?, Bool, String, String).self)
        guard let position, isReplica == (pool === self.pool) else {
            throw PostgresError(.connectionFailure, isReplica ? "the primary is a replica" : "it is no replica any more")
        }
        return (position, Identity(system: system, database: database))
    }

    /// - Parameter fault: nil where both sides have answered.
    private func report(_ fault: String?) {
        let now = ContinuousClock.now
        let (was, shownUntil, firstLook) = state.withLock { ($0.isInUse, $0.lag.shownUntil, $0.firstLook ?? now) }
        let isInUse = shownUntil.map { now - $0 <= mostLag } ?? false
        ReplicaWatch.lag.record(shownUntil.map { (now - $0) / .seconds(1) } ?? .nan)
        guard isInUse != was, isInUse || was != nil || fault != nil || now - firstLook > mostLag else { return }
        state.withLock { $0.isInUse = isInUse }
        if isInUse {
            logger.info("pages and backtests are read from the replica")
        } else {
            logger.warning(
                "pages and backtests are read from the primary instead of the replica",
                metadata: ["reason": "\(fault ?? "it is more than \(mostLag.components.seconds) s behind")"]
            )
        }
    }
}
