import AlertRules
import Alerting
import Attempts
import CommandLineKit
import Delivery
import Foundation
import LiveActivities
import Logging
import Postgres
import PushContract

/// What the measured pages show: attempts with their rollups, an alert that fires, a person with an attempt every minute, a running match.
struct PagesHistory {
    struct Size {
        var days: Int
        var attemptsPerMinute: Int
        var followers: Int
    }

    struct Stored {
        /// The id of an alert that fires.
        var alert: String
        var attempts: Int64
        var attemptsOfThePerson: Int64
    }

    /// Has every minute's first attempt.
    static let person = "u0"
    static let match = "on"
    private static let people = 5_000
    /// How long FCM has been failing.
    private static let incidentMinutes = 30

    let pool: PostgresPool
    let size: Size
    let logger: Logger

    func store() async throws -> Stored {
        let end = Minute(Timestamp.now())
        let first = end - size.days * 1_440
        try await PartitionMaintenance(pool: pool, logger: logger).ensurePartitions(forDays: Set(first.day...(end + 1_440).day))
        Terminal.note("storing \(size.days) days of \(size.attemptsPerMinute) attempts a minute")
        for day in 0..<size.days { try await attempts(from: first + day * 1_440, to: first + (day + 1) * 1_440, incident: end) }
        Terminal.note("a match with \(size.followers) followers, queue and audit")
        try await people()
        try await pool.execute("ANALYZE")
        Terminal.note("evaluating the rules")
        let alert = try await alert(end)
        try await pool.execute("ANALYZE")
        try await pool.execute("CHECKPOINT")
        let (all, own) = try await pool.query(
            "SELECT count(*), count(*) FILTER (WHERE uid = \(Self.person)) FROM notificationDeliveryAttempts"
        )[0].decode((Int64, Int64).self)
        return Stored(alert: alert, attempts: all, attemptsOfThePerson: own)
    }

    /// One in a hundred has a dead token and one in a hundred meets a timeout; at the end two in five of FCM's fail.
    private func attempts(from first: Minute, to end: Minute, incident: Minute) async throws {
        try await pool.execute(
            """
            INSERT INTO notificationDeliveryAttempts (attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode,
                providerErrorCode, attemptedAt, requestId, app, environment, pushType, appVersion, latencyMs, receivedAt, attemptKey)
            SELECT id, 'u' || person, (CASE WHEN isFCM THEN 'android' ELSE 'ios' END)::pushPlatform,
                (CASE WHEN isFCM THEN 'fcm' ELSE 'apns' END)::pushProvider, 'sha256:' || encode(sha256(person::text::bytea), 'hex'), 'send',
                (CASE outcome WHEN 'gone' THEN 'deactivated' WHEN 'sent' THEN 'sent' ELSE 'failed' END)::pushStatus,
                (CASE outcome WHEN 'gone' THEN 'token_not_registered' WHEN 'down' THEN 'provider_5xx' WHEN 'slow' THEN 'network' END)::pushReason,
                CASE outcome WHEN 'gone' THEN 'UNREGISTERED' WHEN 'down' THEN 'UNAVAILABLE' WHEN 'slow' THEN 'timeout' END,
                at, 'bench-' || id, 'com.example.scores', 'production', 'alert', '3.' || person % 4 || '.0', 40 + n % 90, at, md5(id)::uuid
            FROM (
                SELECT n, 'bench-' || n AS id, at, person, person % 2 = 1 AS isFCM,
                    CASE WHEN person % 2 = 1 AND at >= \((incident - Self.incidentMinutes).timestamp) AND n % 5 < 2 THEN 'down'
                         WHEN n % 100 = 37 THEN 'gone' WHEN n % 100 = 73 THEN 'slow' ELSE 'sent' END AS outcome
                FROM (
                    SELECT extract(epoch FROM m)::bigint / 60 * \(size.attemptsPerMinute) + i AS n,
                        m + i * interval '1 minute' / \(size.attemptsPerMinute) AS at,
                        CASE WHEN i = 0 THEN 0 ELSE ((extract(epoch FROM m)::bigint / 60 * 37 + i * 7919) % \(Self.people))::int END AS person
                    FROM generate_series(\(first.timestamp)::timestamptz, \((end - 1).timestamp)::timestamptz, interval '1 minute') m
                    CROSS JOIN generate_series(0, \(size.attemptsPerMinute - 1)) i
                ) AS drawn
            ) AS attempt
            """
        )
        try await pool.execute(
            """
            INSERT INTO attemptRollups (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, writerSlot,
                                        attempts, latencyMsSum, latencyCount)
            SELECT date_trunc('minute', attemptedAt), provider, platform, eventType, status, coalesce(reasonCode::text, ''), app,
                environment::text, pushType, 0, count(*), sum(latencyMs), count(latencyMs)
            FROM notificationDeliveryAttempts
            WHERE attemptedAt >= \(first.timestamp) AND attemptedAt < \(end.timestamp)
            GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
            """
        )
    }

    private func people() async throws {
        // The server's own key, which it would not start without.
        let cipher = TokenCipher(try TokenKeySet(parsing: BenchServeCommand.tokenKeys))
        let fixture = LiveFixture(pool: pool, cipher: cipher)
        try await fixture.running(0..<size.followers, of: Self.match, now: .now())
        try await fixture.score(Self.match, phase: "live", runs: 61, now: .now())
        try await pool.execute(
            """
            INSERT INTO auditEntries (at, actor, callerKind, action, subject, detail)
            SELECT now() - n * interval '5 minutes', 'bench', 'command', 'silences.add', 'alertname=ProviderUnavailable', 'for 30 min: bench ' || n
            FROM generate_series(1, 2000) n
            """
        )
    }

    /// Evaluates all rules, delivers what they say to the log, and makes the table of tries as long as that of a bad month.
    private func alert(_ end: Minute) async throws -> String {
        let receivers = ReceiverRegistry(fixed: [.log], logger: logger)
        let rules = try AlertsLocation.rules(in: try ProjectFiles.locate("alerts"))
        let evaluator = RuleEvaluator(pool: pool, rules: RuleRegistry(rules: rules, logger: logger), receivers: receivers, logger: logger)
        try await evaluator.evaluate(through: end.timestamp)
        try await evaluator.release()
        let notifier = Notifier(
            pool: pool,
            receivers: receivers,
            configuration: NotifierConfiguration(externalURL: "http://127.0.0.1"),
            logger: logger,
            send: { _ in throw CommandFailure.check("the log needs no network") }
        )
        try await notifier.deliverDue()
        try await notifier.release()
        guard let alert = try await AlertStore.open(on: pool).first(where: { $0.rule == "ProviderUnavailable" }) else {
            throw CommandFailure.check("No alert fires although FCM fails: the rules of alerts/ have changed.")
        }
        try await pool.execute(
            """
            INSERT INTO notificationAttempts (alertId, receiver, seq, result, attemptedAt, status, latencyMs)
            SELECT \(alert.id), 'webhook', n, CASE WHEN n % 9 = 0 THEN 'retry' ELSE 'delivered' END, now() - n * interval '20 minutes', 200, 40
            FROM generate_series(1, 2000) n
            """
        )
        return alert.id.uuidString.lowercased()
    }
}
