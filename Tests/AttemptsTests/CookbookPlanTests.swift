import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

/// What the cookbook costs on a larger set: 200,000 attempts over eight days, or as many as PUSHWATCH_COOKBOOK_ROWS says.
@Suite("What the analysts' cookbook costs")
struct CookbookPlanTests {
    /// From what a query's cost may come, in the planner's units (1 = a page read in order).
    enum Reads {
        /// One day of attempts: up to `perAttempt` for each of the day, and a constant.
        case attempts(perAttempt: Double)
        /// The same, and of the people found what each day before has, by its index.
        case history(perAttempt: Double)
        /// One day (or two) of rollups: up to 0.5 for each rollup row of one day, and a constant.
        case rollups
        /// A few rows by an index.
        case lookup
    }

    static let expectations: [String: Reads] = [
        "alertsWithResponse": .lookup, "codesBehindUnknown": .attempts(perAttempt: 0.1), "comparedWithWeekBefore": .rollups,
        "deadTokensStillSentTo": .attempts(perAttempt: 0.15), "deliveryRateByAppVersion": .attempts(perAttempt: 0.25),
        "deliveryRateByDay": .rollups, "exportAttempts": .attempts(perAttempt: 0.15), "failuresByReason": .rollups,
        "failuresPerMinute": .rollups,
        "firstFailurePerToken": .attempts(perAttempt: 0.35), "latencyByProviderAndHour": .attempts(perAttempt: 0.25),
        "meanLatencyByHour": .rollups, "queueBacklog": .lookup, "registrationsByDay": .rollups,
        "reportingDelay": .attempts(perAttempt: 0.25), "reregisteredAfterNotRegistered": .history(perAttempt: 0.15),
        "sendOutcome": .lookup,
        "stuckInQueued": .rollups, "successByAttemptNumber": .attempts(perAttempt: 0.35), "unreachedPeople": .attempts(perAttempt: 0.25),
        "userDevices": .lookup, "userTimeline": .lookup, "worstMinutes": .rollups,
    ]

    @Test("each query's plan reads the day it is asked about, and no other; its cost is bounded by that day's rows")
    func bounded() async throws {
        let rows = ProcessInfo.processInfo.environment["PUSHWATCH_COOKBOOK_ROWS"].flatMap { Int($0) } ?? 200_000
        try await withAnalysts(days: 8) { store in
            let owner = try await PostgresConnection.connect(PostgresConfiguration(url: store.url, statementTimeout: .seconds(600)))
            try await owner.executeScript(CookbookPlanTests.generate(rows))
            let counted = try await owner.query(
                """
                SELECT count(*), (SELECT count(*) FROM attemptRollups WHERE minute >= '2026-03-09' AND minute < '2026-03-10')
                FROM notificationDeliveryAttempts WHERE attemptedAt >= '2026-03-09' AND attemptedAt < '2026-03-10'
                """
            )
            let (attempts, rollups) = try counted[0].decode((Int, Int).self)
            let analyst = try await store.connect()
            let values = ["since": "2026-03-09", "until": "2026-03-10", "uid": "u-77", "sendId": "S-5", "provider": "fcm"]
            for name in try CookbookQuery.all() {
                let sql = try CookbookQuery(name).filled(values)
                let plan = try await analyst.query(Query(text: "EXPLAIN " + sql)).map { try $0.decode(String.self) }
                let cost = try #require(plan.first.flatMap(CookbookPlanTests.cost), "\(name)")
                let reads = try #require(CookbookPlanTests.expectations[name], "\(name) has no bound")
                let bound: Double =
                    switch reads {
                    case .attempts(let perAttempt): 1000 + perAttempt * Double(attempts)
                    case .history(let perAttempt): 5000 + perAttempt * Double(attempts)
                    case .rollups: 1000 + 0.5 * Double(rollups)
                    case .lookup: 1000
                    }
                #expect(cost <= bound, "\(name): cost \(cost), bound \(bound)\n\(plan.joined(separator: "\n"))")
                var lines = plan
                // The day before all of them is empty.
                if case .history = reads { lines = plan.filter { $0.contains("Seq Scan") && !$0.contains("(cost=0.00..0.00 ") } }
                let days = Set(lines.flatMap { $0.matches(of: /notificationdeliveryattempts_([0-9]{8})/).map { String($0.1) } })
                #expect(days.isSubset(of: ["20260309"]), "\(name) reads \(days.sorted())")
                if ProcessInfo.processInfo.environment["PUSHWATCH_COOKBOOK_REPORT"] != nil {
                    let start = ContinuousClock.now
                    let answer = try await analyst.query(Query(text: sql)).count
                    print(
                        "\(name)\tcost \(Int(cost))\tbound \(Int(bound))\t\(answer) rows\t\((ContinuousClock.now - start).inSeconds) s"
                    )
                }
            }
        }
    }

    /// `Sort  (cost=12.34..56.78 rows=…`: the second number is that of the whole answer.
    static func cost(_ line: String) -> Double? {
        line.firstMatch(of: #/cost=[0-9]+\.[0-9]+\.\.([0-9]+\.[0-9]+) /#).flatMap { Double($0.1) }
    }

    /// Spread evenly over 3 to 10 March; a tenth fails, of many people, tokens and sends; rollups by counting.
    static func generate(_ rows: Int) -> String {
        """
        INSERT INTO notificationDeliveryAttempts
        SELECT 'a-' || n, 'u-' || n % \(max(rows / 20, 1)), CASE WHEN n % 3 = 0 THEN 'ios' ELSE 'android' END::pushPlatform,
            CASE WHEN n % 3 = 0 THEN 'apns' ELSE 'fcm' END::pushProvider,
            'sha256:' || encode(sha256(('t' || n % \(max(rows / 15, 1)))::bytea), 'hex'),
            CASE WHEN n % 50 = 1 THEN 'register' ELSE 'send' END::pushEventType,
            CASE WHEN n % 10 = 0 THEN 'failed' ELSE 'sent' END::pushStatus,
            CASE WHEN n % 10 = 0 THEN (ARRAY['token_not_registered', 'unknown', 'network', 'provider_5xx'])[1 + n / 10 % 4] END::pushReason,
            CASE WHEN n % 10 = 0 THEN 'code-' || n / 10 % 30 END,
            '2026-03-03'::timestamptz + n * (interval '8 days' / \(rows)), 'r-' || n / 100,
            CASE WHEN n % 3 = 0 THEN 'ios.app' ELSE 'android.app' END, 'production', 'alert', '1.' || n % 12, NULL, n % 900, 'S-' || n / 3,
            '2026-03-03'::timestamptz + n * (interval '8 days' / \(rows)) + interval '1 s',
            encode(substring(sha256(('a-' || n)::bytea) FOR 16), 'hex')::uuid
        FROM generate_series(0, \(rows - 1)) AS n;
        INSERT INTO attemptRollups
        SELECT date_trunc('minute', attemptedAt), provider, platform, eventType, status, coalesce(reasonCode::text, ''), app,
            environment::text, pushType, 0, count(*), sum(latencyMs), count(latencyMs)
        FROM notificationDeliveryAttempts GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
        ANALYZE notificationDeliveryAttempts;
        ANALYZE attemptRollups;
        """
    }
}
