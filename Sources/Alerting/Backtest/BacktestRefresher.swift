import AlertRules
package import Logging
package import Postgres
package import PushContract
import ServiceKit
import ServiceLifecycle

/// Keeps a backtest of the last four weeks for each rule in force, on each instance that has the pages.
///
/// A rule is backtested again every hour, and soon after an alert of it began or ended or its file changed; never more than a twentieth of
/// the time. Reads only, a rule after the other and a day after the other, so that it holds no connection for long. It reads the rule
/// files too, since an instance with pages and without an evaluator has no other reader.
package struct BacktestRefresher: Service {
    /// Days that a backtest covers.
    package static let days = 28
    private static let interval = Duration.seconds(3_600)
    /// As long as nothing is stored: the chart of the first day appears within a minute.
    private static let shortInterval = Duration.seconds(60)
    /// After a failure, and between rounds.
    private static let failureCooldown = Duration.seconds(600)
    private static let pause = Duration.seconds(10)
    private static let share = 20

    private let pool: PostgresPool
    private let replica: ReplicaWatch?
    private let rules: RuleRegistry
    private let backtestCache: BacktestCache
    private let lag: Duration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let logger: Logger

    /// - Parameters:
    ///   - replica: read instead of `pool` while it may be.
    ///   - lag: a minute is closed this long after its end, as for the evaluator.
    package init(
        pool: PostgresPool,
        replica: ReplicaWatch? = nil,
        rules: RuleRegistry,
        backtestCache: BacktestCache,
        lag: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        logger: Logger
    ) {
        self.pool = pool
        self.replica = replica
        self.rules = rules
        self.backtestCache = backtestCache
        self.lag = lag
        self.clock = clock
        self.now = now
        self.logger = logger
    }

    package func run() async throws {
        let none: [String: Timestamp] = [:]
        try await PeriodicService("backtests", every: Self.pause, clock: clock, logger: logger, state: none) { cooldown in
            await refresh(&cooldown)
        }.run()
    }

    /// Makes the backtests that are due. `cooldown`: when the backtest of a version of a rule failed.
    package func refresh(_ cooldown: inout [String: Timestamp]) async {
        do {
            rules.refresh()
            backtestCache.keep(only: rules.rules)
            let changes = try await changes()
            for rule in rules.rules where Self.isDue(backtestCache.entry(of: rule), changedAt: changes[rule.name], now: now()) {
                if let failed = cooldown[rule.version], now() - failed < Self.failureCooldown { continue }
                do {
                    try await make(rule, changedAt: changes[rule.name])
                    cooldown[rule.version] = nil
                } catch let error where !(error is CancellationError) {
                    cooldown[rule.version] = now()
                    logger.warning("a rule could not be backtested", metadata: ["rule": "\(rule.name)", "error": "\(error)"])
                }
            }
        } catch is CancellationError {
        } catch {
            // The database is away, which others log; the next round comes soon.
            logger.debug("backtests could not be refreshed", metadata: ["error": "\(error)"])
        }
    }

    static func isDue(_ entry: BacktestCache.Entry?, changedAt: Timestamp?, now: Timestamp) -> Bool {
        guard let entry else { return true }
        let age = now - entry.computedAt
        let isOld = age >= (entry.historySince == nil ? shortInterval : interval)
        return age >= entry.duration * share && (isOld || entry.changedAt != changedAt)
    }

    private func make(_ rule: AlertRule, changedAt: Timestamp?) async throws {
        if let replica {
            do {
                if replica.age() != nil { return try await make(rule, changedAt: changedAt, on: replica.pool) }
            } catch is PostgresError {}
            replica.noteFallback()
        }
        try await make(rule, changedAt: changedAt, on: pool)
    }

    private func make(_ rule: AlertRule, changedAt: Timestamp?, on pool: PostgresPool) async throws {
        let started = ContinuousClock.now
        let last = Minute(now() - lag) - 1
        let backtest = RuleBacktest(span: BacktestSpan(since: last - Self.days * 1_440 + 1, last: last), on: pool)
        let result = try await backtest.run(rule)
        let entry = BacktestCache.Entry(
            span: backtest.span,
            historySince: try await backtest.firstMinute(),
            alerts: result.alerts,
            computedAt: now(),
            duration: ContinuousClock.now - started,
            changedAt: changedAt
        )
        backtestCache.put(entry, of: rule)
    }

    /// The newest beginning or end of an alert, by rule. As many rows as alerts, which are few.
    private func changes() async throws -> [String: Timestamp] {
        let rows = try await pool.query("SELECT rule, max(greatest(firedAt, resolvedAt)) FROM alerts GROUP BY rule")
        return Dictionary(try rows.map { try $0.decode((String, Timestamp).self) }.map { ($0.0, $0.1) }) { first, _ in first }
    }
}
