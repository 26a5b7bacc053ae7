import AlertRules
import Alerting
import Attempts
import CommandLineKit
import Foundation
import Logging
import Postgres
import PushContract

/// `pushwatch-dev bench rules`: what rules cost as there are more attempts, and as there are more keys.
struct RulesBench {
    struct Settings {
        /// Of the backtest.
        var days: Int
        /// Minutes evaluated one by one.
        var evaluations: Int
        /// Times as many attempts as in the first load, in the same minutes and keys.
        var factors: [Int64]
        /// Apps of these loads; each has four kinds of traffic in two major versions. The last load has four times as many.
        var apps: Int32

        static let full = Settings(days: 28, evaluations: 60, factors: [1, 10, 100], apps: 2)
        /// Half of the keys, a week, and the middle load left out.
        static let quick = Settings(days: 7, evaluations: 15, factors: [1, 100], apps: 1)
    }

    struct Load: Encodable {
        var name: String
        var attempts: Int64
        var rollupRows: Int64
        /// A rule that was never evaluated looks back 14 days.
        var firstEvaluationSeconds: Double
        var evaluationMilliseconds: Double
        /// The slowest: the minutes in which baselines are evaluated too.
        var slowestEvaluationMilliseconds: Double
        var backtestSeconds: Double
        /// To the first load.
        var evaluationRatio = 1.0
        var backtestRatio = 1.0
    }

    struct Report: Encodable {
        var rules: Int
        var keysAMinute: Int
        var backtestDays: Int
        var evaluations: Int
        var loads: [Load]

        var text: String {
            let head = [
                "load", "attempts", "rollup rows", "first s", "evaluation ms", "slowest ms", "backtest s", "evaluation ×", "backtest ×",
            ]
            let rows = loads.map { load in
                [
                    load.name, "\(load.attempts)", "\(load.rollupRows)", Self.text(load.firstEvaluationSeconds, 2),
                    Self.text(load.evaluationMilliseconds, 1), Self.text(load.slowestEvaluationMilliseconds, 1),
                    Self.text(load.backtestSeconds, 2), Self.text(load.evaluationRatio, 2), Self.text(load.backtestRatio, 2),
                ]
            }
            return TextTable(head, rows).text
                + "\n\(rules) rules, \(keysAMinute) rollup rows a minute; median of \(evaluations) evaluations, one minute each; backtest of \(backtestDays) days"
        }

        static func text(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
    }

    let database: BenchDatabase
    let rules: [AlertRule]
    let settings: Settings
    let logger: Logger

    /// Days before the backtest's own: those a rule is evaluated ahead of them, and those that a baseline learns from.
    private var historyDays: Int { settings.days + 15 }

    func run() async throws -> Report {
        let configuration = PostgresConfiguration(
            url: database.url,
            maxConnections: 4,
            statementTimeout: .seconds(1800),
            applicationName: "bench rules"
        )
        _ = try await Migrator(configuration: configuration, directory: try ProjectFiles.locate("sql/migrations"), logger: logger).migrate()
        let pool = PostgresPool(configuration: configuration, logger: logger)
        defer { pool.close() }
        let end = Minute(Timestamp.now())
        let days = Set((end - historyDays * 1440).day...(end + 1440).day)
        try await PartitionMaintenance(pool: pool, logger: logger).ensurePartitions(forDays: days)
        var loads: [Load] = []
        let same = settings.factors.map { ("\($0)×", $0, settings.apps) }
        for (name, factor, apps) in same + [("1×, 4× the keys", 1, 4 * settings.apps)] {
            var load = try await measure(name, end, factor: factor, apps: apps, pool)
            if let first = loads.first {
                load.evaluationRatio = load.evaluationMilliseconds / first.evaluationMilliseconds
                load.backtestRatio = load.backtestSeconds / first.backtestSeconds
            }
            loads.append(load)
        }
        return Report(
            rules: rules.count,
            keysAMinute: Int(settings.apps) * Self.rowsOfApp,
            backtestDays: settings.days,
            evaluations: settings.evaluations,
            loads: loads
        )
    }

    private func measure(_ name: String, _ end: Minute, factor: Int64, apps: Int32, _ pool: PostgresPool) async throws -> Load {
        let filling = try await seconds { try await fill(pool, name, through: end, factor: factor, apps: apps) }
        let (attempts, rows) = try await pool.query("SELECT sum(attempts)::bigint, count(*) FROM attemptRollups")[0]
            .decode((Int64, Int64).self)
        Terminal.note("\(name): \(rows) rollup rows in \(Int(filling)) s; evaluating")
        let evaluator = RuleEvaluator(
            pool: pool,
            rules: RuleRegistry(rules: rules, logger: logger),
            receivers: ReceiverRegistry(fixed: [.log], logger: logger),
            logger: logger
        )
        let start = end - settings.evaluations
        let first = try await seconds { try await evaluator.evaluate(through: start.timestamp) }
        var times: [Double] = []
        for minute in 1...settings.evaluations {
            times.append(try await seconds { try await evaluator.evaluate(through: (start + minute).timestamp) })
        }
        try await evaluator.release()
        guard evaluator.faults.isEmpty else { throw CommandFailure.check("Rules failed: \(evaluator.faults)") }
        times.sort()
        let median = times[times.count / 2] * 1000
        Terminal.note(
            "\(name): first evaluation \(Report.text(first, 2)) s, then \(Report.text(median, 1)) ms a minute; backtest of \(settings.days) days"
        )
        let span = BacktestSpan(since: end - settings.days * 1440, last: end - 1)
        let backtest = try await seconds { _ = try await RuleBacktest(span: span, on: pool).run(rules) }
        Terminal.note("\(name): backtest \(Report.text(backtest, 2)) s")
        return Load(
            name: name,
            attempts: attempts,
            rollupRows: rows,
            firstEvaluationSeconds: first,
            evaluationMilliseconds: median,
            slowestEvaluationMilliseconds: (times.last ?? 0) * 1000,
            backtestSeconds: backtest
        )
    }

    private func seconds(_ work: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await work()
        return (ContinuousClock.now - start).inSeconds
    }

    /// Four kinds of traffic, two major versions, four outcomes.
    private static let rowsOfApp = 4 * 2 * 4

    /// Healthy traffic: 97 of 100 are sent, and each usual reason has one of them. A day at a time, so that rows are stored in the order of
    /// their minutes, as writers leave them, and one can see how far it is.
    private func fill(_ pool: PostgresPool, _ name: String, through end: Minute, factor: Int64, apps: Int32) async throws {
        try await pool.execute(
            """
            TRUNCATE attemptRollups, alertRuleProgress, alertCheckpoints, alerts, alertBaselineDays, alertSeriesProgress CASCADE
            """
        )
        for day in 1...historyDays {
            let first = end - (historyDays - day + 1) * 1440
            try await fillDay(pool, from: first, through: day == historyDays ? end : first + 1439, factor: factor, apps: apps)
            if Terminal.isInteractive { Terminal.progress("\(name): filled \(day) of \(historyDays) days", isLast: day == historyDays) }
        }
        try await pool.execute("ANALYZE attemptRollups")
        try await pool.execute("CHECKPOINT")
    }

    private func fillDay(_ pool: PostgresPool, from first: Minute, through last: Minute, factor: Int64, apps: Int32) async throws {
        try await pool.execute(
            """
            INSERT INTO attemptRollups (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor,
                                        writerSlot, attempts, latencyMsSum, latencyCount)
            SELECT m, k.provider::pushProvider, k.platform::pushPlatform, 'send', s.status::pushStatus, s.reason,
                   'com.example.app' || a, k.environment, k.pushType, v.major, 0, s.attempts * \(factor), 0, 0
            FROM generate_series(\(first.timestamp)::timestamptz, \(last.timestamp)::timestamptz, interval '1 minute') m
            CROSS JOIN generate_series(1, \(apps)) a
            CROSS JOIN (VALUES ('apns', 'ios', 'production', 'alert'), ('apns', 'ios', 'production', 'liveactivity'),
                               ('fcm', 'android', 'production', 'alert'), ('fcm', 'web', 'production', 'alert'))
                AS k (provider, platform, environment, pushType)
            CROSS JOIN (VALUES ('3'), ('4')) AS v (major)
            CROSS JOIN (VALUES ('sent', '', 97), ('failed', 'provider_5xx', 1), ('failed', 'token_not_registered', 1),
                               ('failed', 'network', 1)) AS s (status, reason, attempts)
            """
        )
    }
}
