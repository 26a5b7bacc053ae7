import AlertRules
import Alerting
import Attempts
import Foundation
import Postgres
import PushContract
import TestDatabase

/// Writes rollup rows as the writer of attempts would.
struct Traffic {
    /// 2026-01-05 12:00 UTC, a Monday.
    static let start = Minute(Timestamp(rfc3339: "2026-01-05T12:00:00Z")!)

    let pool: PostgresPool

    init(_ pool: PostgresPool, daysBack: Int64 = 1) async throws {
        self.pool = pool
        let day = Traffic.start.day
        try await PartitionMaintenance(pool: pool, logger: .silent).ensurePartitions(forDays: Set(day - daysBack...day + 1))
    }

    /// `attempts` sends in a minute, `bad` of them failed for `reason`. Adds to what is there.
    func add(
        _ minute: Minute,
        attempts: Int64,
        bad: Int64,
        reason: String = "provider_5xx",
        provider: String = "fcm",
        platform: String = "android",
        app: String = "com.example.app",
        pushType: String = "alert"
    ) async throws {
        for (status, code, count) in [("sent", "", attempts - bad), ("failed", reason, bad)] where count > 0 {
            try await pool.execute(
                """
                INSERT INTO attemptRollups AS r (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType,
                                                 writerSlot, attempts, latencyMsSum, latencyCount)
                VALUES (\(minute.timestamp), \(provider), \(platform), 'send', \(status), \(code), \(app), 'production', \(pushType),
                        \(Int16(minute.index % 2)), \(count), 0, 0)
                ON CONFLICT (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor, writerSlot)
                DO UPDATE SET attempts = r.attempts + excluded.attempts
                """
            )
        }
    }

    /// As many accepted sends of one app in each minute of a range, counted from `start`, that is wanted; in one statement.
    func fill(_ minutes: Range<Int>, app: String, attempts: Int64, where isWanted: (Int) -> Bool) async throws {
        let wanted = attempts > 0 ? minutes.filter(isWanted).map { (Traffic.start + $0).timestamp } : []
        try await pool.execute(
            """
            INSERT INTO attemptRollups (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType,
                                        writerSlot, attempts, latencyMsSum, latencyCount)
            SELECT minute, 'fcm', 'android', 'send', 'sent', '', \(app), 'production', 'alert', 0, \(attempts), 0, 0
            FROM unnest(\(wanted)) AS minute
            """
        )
    }

    /// Attempts of one minute with their latencies, through the writer; `reportedLate` minutes after it.
    func write(_ minute: Int, latencies: [Int32], app: String, reportedLate late: Int = 0) async throws {
        let at = (Traffic.start + minute).timestamp
        var batch = AttemptBatch()
        for (index, latencyMs) in latencies.enumerated() {
            try batch.append(
                Attempt(
                    attemptId: "\(app)-\(minute)-\(late)-\(index)",
                    uid: "u-\(index)",
                    platform: .android,
                    provider: .fcm,
                    tokenHash: TokenHash(rawValue: "sha256:" + String(repeating: "a", count: 64))!,
                    eventType: .send,
                    status: .sent,
                    attemptedAt: at + .milliseconds(index),
                    requestId: "r",
                    app: app,
                    latencyMs: latencyMs
                )
            )
        }
        let filled = batch
        try await pool.performTransaction {
            _ = try AttemptWriter.write(filled, on: $0, slot: Int16(minute % 2), receivedAt: at + .seconds(Int64(late) * 60))
        }
    }

    /// The same counts for each minute of a range, counted from `start`.
    func add(_ minutes: Range<Int>, attempts: Int64, bad: Int64, provider: String = "fcm") async throws {
        for offset in minutes { try await add(Traffic.start + offset, attempts: attempts, bad: bad, provider: provider) }
    }
}

enum Rules {
    static let annotations = RuleAnnotations(
        summary: AnnotationTemplate(plain: "Sends fail with provider errors"),
        action: AnnotationTemplate(plain: "Throttle non-critical sends and watch the retry drain."),
        runbook: "runbooks/provider-5xx.md"
    )

    static func make(_ name: String, _ condition: RuleCondition, by: [AlertRules.Dimension], severity: Severity = .page) -> AlertRule {
        AlertRule(
            name: name,
            ruleGroup: "push-delivery",
            condition: condition,
            by: by,
            severity: severity,
            labels: ["severity": severity.rawValue, "team": "push"],
            annotations: annotations,
            source: SourcePosition(file: "test.yml", line: 1, column: 1)
        )
    }

    /// More than 5 % provider errors for 15 minutes.
    static let provider5xx = make(
        "ProviderUnavailable",
        .ratio(RatioCondition(reasons: ["provider_5xx"], above: Fraction(5, 100), for: RuleDuration(minutes: 15))),
        by: [.provider]
    )

    static let tokens = make(
        "TokenNotRegisteredSpike",
        .baseline(BaselineCondition(reasons: ["token_not_registered"], above: Fraction(3, 1))),
        by: [.provider]
    )
}
