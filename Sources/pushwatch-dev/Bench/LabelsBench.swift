import AlertRules
import Alerting
import Attempts
import CommandLineKit
import Foundation
import Logging
import Postgres
import PushContract

/// `pushwatch-dev bench labels`: what an evaluation costs while a client makes up app names.
///
/// Each synthetic app has one rejected attempt in each of the newest 24 minutes, so each would be an alert of its own; a real app is
/// rejected as well. Rollups and attempts are written by SQL, as the writer of attempts leaves them when its own limit of apps is lifted.
struct LabelsBench {
    static let minutes = 24
    static let realApp = "com.example.real"

    struct Load: Encodable {
        var apps: Int32
        var rollupRows: Int64
        /// The one that first sees the synthetic apps, and the next two.
        var firstSeconds: Double
        var nextSeconds: [Double]
        var peakMemoryMiB: Int
        var alerts: Int
        /// The real app has its alert after the first evaluation.
        var hasAlertOfRealApp: Bool
    }

    let database: BenchDatabase
    let rules: [AlertRule]
    let apps: [Int32]
    /// Nil: the evaluator's own.
    let maxApps: Int?
    let logger: Logger

    func run() async throws -> [Load] {
        let configuration = PostgresConfiguration(
            url: database.url,
            maxConnections: 4,
            statementTimeout: .seconds(1800),
            applicationName: "bench labels"
        )
        _ = try await Migrator(configuration: configuration, directory: try ProjectFiles.locate("sql/migrations"), logger: logger).migrate()
        let pool = PostgresPool(configuration: configuration, logger: logger)
        defer { pool.close() }
        let end = Minute(Timestamp.now())
        try await PartitionMaintenance(pool: pool, logger: logger).ensurePartitions(forDays: Set((end - 20 * 1440).day...(end + 1440).day))
        var loads: [Load] = []
        for count in apps {
            Terminal.note("\(count) apps")
            let load = try await measure(count, end, pool)
            Terminal.note(Self.text(load))
            loads.append(load)
        }
        return loads
    }

    private func measure(_ apps: Int32, _ end: Minute, _ pool: PostgresPool) async throws -> Load {
        try await fill(pool, end, apps: apps)
        let rows = try await pool.query("SELECT count(*) FROM attemptRollups")[0].decode(Int64.self)
        var configuration = EvaluatorConfiguration()
        if let maxApps { configuration.maxApps = maxApps }
        let evaluator = RuleEvaluator(
            pool: pool,
            rules: RuleRegistry(rules: rules, logger: logger),
            receivers: ReceiverRegistry(fixed: [.log], logger: logger),
            configuration: configuration,
            logger: logger
        )
        try await evaluator.evaluate(through: (end - Self.minutes).timestamp)
        let me = ProcessUse(pid: getpid())
        me.resetPeak()
        let first = try await seconds { try await evaluator.evaluate(through: (end - 2).timestamp) }
        let isFound = try await pool.query(
            "SELECT EXISTS (SELECT FROM alerts WHERE groupLabels->>'app' = \(Self.realApp) AND state = 'firing')"
        )[0].decode(Bool.self)
        var next: [Double] = []
        for minute in [end - 1, end] { next.append(try await seconds { try await evaluator.evaluate(through: minute.timestamp) }) }
        try await evaluator.release()
        guard evaluator.faults.isEmpty else { throw CommandFailure.check("Rules failed: \(evaluator.faults)") }
        return Load(
            apps: apps,
            rollupRows: rows,
            firstSeconds: first,
            nextSeconds: next,
            peakMemoryMiB: (me.peakMemory ?? 0) >> 20,
            alerts: try await pool.query("SELECT count(*) FROM alerts")[0].decode(Int.self),
            hasAlertOfRealApp: isFound
        )
    }

    private func seconds(_ work: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await work()
        return (ContinuousClock.now - start).inSeconds
    }

    private func fill(_ pool: PostgresPool, _ end: Minute, apps: Int32) async throws {
        try await pool.execute(
            """
            TRUNCATE attemptRollups, notificationDeliveryAttempts, alertRuleProgress, alertCheckpoints, alerts, alertBaselineDays,
                     alertSeriesProgress CASCADE
            """
        )
        let first = (end - Self.minutes).timestamp
        try await pool.execute(
            """
            INSERT INTO attemptRollups (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor,
                                        writerSlot, attempts, latencyMsSum, latencyCount)
            SELECT m, 'fcm'::pushProvider, 'android'::pushPlatform, 'send'::pushEventType, 'failed'::pushStatus, 'auth', 'synthetic.' || a, '', 'alert', '', 0, 1, 0, 0
            FROM generate_series(\(first)::timestamptz, \((end - 1).timestamp)::timestamptz, interval '1 minute') m
            CROSS JOIN generate_series(1, \(apps)) a
            UNION ALL
            SELECT m, 'fcm', 'android', 'send', s.status::pushStatus, s.reason, \(Self.realApp), 'production', 'alert', '3', 0, s.attempts, 0, 0
            FROM generate_series(\((end - 300).timestamp)::timestamptz, \((end - 1).timestamp)::timestamptz, interval '1 minute') m
            CROSS JOIN (VALUES ('sent', '', 50), ('failed', 'auth', 50)) AS s (status, reason, attempts)
            WHERE s.status = 'sent' OR m >= \(first)
            """
        )
        try await pool.execute(
            """
            INSERT INTO notificationDeliveryAttempts (attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode,
                providerErrorCode, attemptedAt, requestId, app, pushType, receivedAt, attemptKey)
            SELECT gen_random_uuid()::text, 'u' || a % 1000, 'android', 'fcm', 'sha256:' || lpad(to_hex(a % 100000), 64, '0'), 'send', 'failed',
                   'auth', 'InvalidProviderToken', m + a % 60000 * interval '1 millisecond', 'r', 'synthetic.' || a, 'alert', m, gen_random_uuid()
            FROM generate_series(\(first)::timestamptz, \((end - 1).timestamp)::timestamptz, interval '1 minute') m
            CROSS JOIN generate_series(1, least(\(apps), 10000)) a
            """
        )
        try await pool.execute("ANALYZE attemptRollups, notificationDeliveryAttempts")
        try await pool.execute("CHECKPOINT")
    }

    static func text(_ load: Load) -> String {
        let next = load.nextSeconds.map { String(format: "%.2f", $0) }.joined(separator: ", ")
        return "\(load.apps) apps, \(load.rollupRows) rollup rows: first \(String(format: "%.2f", load.firstSeconds)) s, next \(next) s, "
            + "peak \(load.peakMemoryMiB) MiB, \(load.alerts) alerts, alert of the real app: \(load.hasAlertOfRealApp ? "yes" : "no")"
    }
}
