import AlertRules
import Alerting
import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Who is affected, and the numbers again")
struct ImpactTests {
    /// A release fails with one code; persons 0–9 of it get a push all the same later.
    private func incident(_ pool: PostgresPool) async throws -> Alert {
        let traffic = try await Traffic(pool)
        for minute in 0..<35 {
            try await traffic.addFacts(Traffic.start + minute, count: 80, appVersion: "3.1.0", prefix: "good")
            let reason = minute < 20 ? nil : "provider_5xx"
            try await traffic.addFacts(
                Traffic.start + minute,
                count: 20,
                reason: reason,
                code: reason == nil ? nil : "UNAVAILABLE",
                appVersion: "3.2.0",
                prefix: "bad"
            )
        }
        try await traffic.addFacts(Traffic.start + 34, count: 5, appVersion: "3.2.0", prefix: "bad")
        let evaluator = RuleEvaluator.forTest(pool)
        try await evaluator.evaluate(minutes: 20)
        try await evaluator.evaluate(minutes: 35)
        return try #require(try await AlertStore.open(on: pool).first)
    }

    @Test("app version and the provider's own code are among the contributors; devices without a success are counted")
    func affected() async throws {
        try await withDatabase { pool in
            let alert = try await incident(pool)
            let named = alert.contributors.map { "\($0.dimension)=\($0.value) \($0.bad)" }
            #expect(named.contains("appVersion=3.2.0 300") && named.contains("providerErrorCode=UNAVAILABLE 300"), "\(named)")
            #expect(!named.contains { $0.contains("3.1.0") })
            let version = try #require(alert.contributors.first { $0.dimension == "appVersion" })
            // 300 of 300 failures, and 305 of 1,505 attempts.
            #expect(abs((version.lift ?? 0) - 1505.0 / 305) < 0.001)
            #expect(alert.contributors.allSatisfy { $0.isEstimated == nil }, "all attempts were looked at")
            #expect(alert.affected == AffectedDevices(withoutSuccess: 15, isComplete: true))
            #expect(alert.contributors.count <= 5)
        }
    }

    @Test("when all fail alike, the provider's code is named and no version, platform or app", arguments: [1, 2, 4])
    func alike(oneOf: Int) async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            for minute in 0..<35 {
                for (version, count) in [("3.1.0", 60), ("3.2.0", 40)] {
                    let bad = minute < 20 ? 0 : count / oneOf
                    let at = Traffic.start + minute
                    if bad < count { try await traffic.addFacts(at, count: count - bad, appVersion: version, prefix: "good" + version) }
                    guard bad > 0 else { continue }
                    try await traffic.addFacts(
                        at,
                        count: bad,
                        reason: "provider_5xx",
                        code: "UNAVAILABLE",
                        appVersion: version,
                        prefix: "bad" + version
                    )
                }
            }
            let evaluator = RuleEvaluator.forTest(pool)
            try await evaluator.evaluate(minutes: 20)
            try await evaluator.evaluate(minutes: 35)
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.contributors.map { "\($0.dimension)=\($0.value)" } == ["providerErrorCode=UNAVAILABLE"])
        }
    }

    @Test("with more attempts than are looked at, shares are estimated and devices are at least so many")
    func sampled() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.addFacts(Traffic.start, count: 60_000, appVersion: "1")
            try await traffic.addFacts(
                Traffic.start,
                count: 30_000,
                reason: "auth",
                code: "InvalidProviderToken",
                appVersion: "2",
                prefix: "v"
            )
            let rule = Rules.make(
                "Auth",
                .ratio(RatioCondition(reasons: ["auth"], above: Fraction(1, 100), for: RuleDuration(minutes: 2))),
                by: []
            )
            let evaluator = RuleEvaluator.forTest(pool, [rule])
            try await traffic.addFacts(
                Traffic.start + 1,
                count: 100,
                reason: "auth",
                code: "InvalidProviderToken",
                appVersion: "2",
                prefix: "v"
            )
            try await evaluator.evaluate(minutes: -1)
            try await evaluator.evaluate(minutes: 2)
            let alert = try #require(try await AlertStore.open(on: pool).first)
            let version = try #require(alert.contributors.first { $0.dimension == "appVersion" })
            #expect(version.value == "2" && version.isEstimated == true)
            #expect(abs(version.bad - 30_100) < 100, "\(version.bad)")
            let affected = try #require(alert.affected)
            #expect(!affected.isComplete && affected.withoutSuccess == 2000)
        }
    }

    @Test("with all attempts of one person, version, code and devices are found, and no attempt is read for each device")
    func onePerson() async throws {
        try await withDatabaseURL { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 4), logger: .silent)
            let traffic = try await Traffic(pool)
            for minute in 0..<15 {
                let at = Traffic.start + minute
                try await traffic.addFacts(at, count: 1200, appVersion: "1", prefix: "good", devices: 100, person: "somebody")
                try await traffic.addFacts(
                    at,
                    count: 360,
                    reason: "provider_5xx",
                    code: "UNAVAILABLE",
                    appVersion: "2",
                    prefix: "bad",
                    devices: 360,
                    person: "somebody"
                )
            }
            let evaluator = RuleEvaluator.forTest(pool)
            try await evaluator.evaluate(minutes: -1)
            try await evaluator.evaluate(minutes: 15)
            pool.close()

            let reader = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 1), logger: .silent)
            defer { reader.close() }
            // Connections report what they read when they end.
            _ = try await reader.query(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            let read = try await reader.query(
                """
                SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::bigint FROM pg_stat_user_tables
                WHERE relname LIKE 'notificationdeliveryattempts%'
                """
            )[0].decode(Int64.self)
            // 23,400 attempts of one person: the sample reads them once, the look-up once more. A look-up for each device would read 8
            // million.
            #expect((read > 23_400 && read < 200_000) || TestEngine.isDistributed, "\(read)")
            let alert = try #require(try await AlertStore.open(on: reader).first)
            let named = alert.contributors.map { "\($0.dimension)=\($0.value)" }
            #expect(named.contains("appVersion=2") && named.contains("providerErrorCode=UNAVAILABLE"), "\(named)")
            #expect(alert.affected == AffectedDevices(withoutSuccess: 360, isComplete: true))
            let people = try await AffectedPerson.some(Rules.provider5xx, group: alert.group, window: alert.evidence.observed, on: reader)
            #expect(people.map(\.uid) == ["somebody"])
        }
    }

    @Test(
        "the SQL of an alert runs in psql as the analyst and returns the numbers of the verdict",
        .enabled(if: Psql.isInstalled, "psql is not installed")
    )
    func psql() async throws {
        try await withDatabaseURL { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 4), logger: .silent)
            defer { pool.close() }
            let alert = try await incident(pool)
            let answer = try Psql.run(alert.reproduceSQL, at: url)
            #expect(answer.status == 0, "\(answer.text)")
            let last = try #require(answer.text.split(separator: "\n").last)
            let counts = alert.evidence.observed.counts
            #expect(last.hasPrefix("|\(counts.attempts)|\(counts.bad)|"), "\(last)")
            let writing = try Psql.run("DELETE FROM alerts", at: url)
            #expect(writing.status != 0, "an analyst only reads")
        }
    }

    @Test("the SQL of a traffic drop returns what was attempted and what is usual", .enabled(if: Psql.isInstalled, "psql is not installed"))
    func dropSQL() async throws {
        var condition = TrafficDropCondition(below: Fraction(1, 2), for: RuleDuration(minutes: 15))
        condition.weeks = 2
        try await withDatabaseURL { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 4), logger: .silent)
            defer { pool.close() }
            let traffic = try await Traffic(pool, daysBack: 16)
            let week = 7 * 1440
            for (from, rate) in [(-2 * week, 9), (-week, 7)] as [(Int, Int64)] {
                try await traffic.fill(from - 90..<from + 90, app: "it's", attempts: rate) { _ in true }
            }
            try await traffic.fill(-60..<0, app: "it's", attempts: 7) { _ in true }
            try await traffic.fill(0..<30, app: "it's", attempts: 1) { _ in true }
            let evaluator = RuleEvaluator.forTest(pool, [Rules.make("Drop", .trafficDrop(condition), by: [.app])])
            try await evaluator.evaluate(minutes: 0...30)
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.evidence.expected == 105 && alert.contributors == [] && alert.affected == nil)
            let answer = try Psql.run(alert.reproduceSQL, at: url)
            #expect(answer.status == 0, "\(answer.text)")
            let last = try #require(answer.text.split(separator: "\n").last)
            #expect(last == "\(alert.evidence.observed.counts.attempts)|105", "\(answer.text)")
        }
    }

    @Test(
        "the SQL of a latency returns the slow attempts, and between which bounds a percentile is",
        .enabled(if: Psql.isInstalled, "psql is not installed")
    )
    func latencySQL() async throws {
        let condition = LatencyCondition(percentile: Fraction(95, 1), aboveMs: 2000, for: RuleDuration(minutes: 10))
        try await withDatabaseURL { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 4), logger: .silent)
            defer { pool.close() }
            let traffic = try await Traffic(pool)
            let latencies = [Int32](repeating: 40, count: 16) + [2001, 2500, 9000, 9000]
            for minute in 0..<10 { try await traffic.write(minute, latencies: latencies, app: "a") }
            try await traffic.write(3, latencies: [70_000], app: "b")
            let evaluator = RuleEvaluator.forTest(pool, [Rules.make("Slow", .latency(condition), by: [.app])])
            try await evaluator.evaluate(minutes: 0...10)
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.evidence.observed.counts == AttemptCounts(attempts: 200, bad: 40))
            #expect(alert.contributors == [] && alert.affected == nil && !alert.revised)
            let answer = try Psql.run(alert.reproduceSQL, at: url)
            #expect(answer.status == 0, "\(answer.text)")
            let lines = answer.text.split(separator: "\n")
            #expect(lines.contains("|200|40|20.00"), "\(answer.text)")
            #expect(lines.suffix(3) == ["50|160|80.00", "3000|20|90.00", "10000|20|100.00"], "\(answer.text)")
        }
    }

    @Test("the SQL of rules that do not read the rollups runs as the analyst too", .enabled(if: Psql.isInstalled, "psql is not installed"))
    func otherSQL() async throws {
        let backlog = Rules.make("Growth", .backlog(BacklogCondition(above: 10, for: RuleDuration(minutes: 15))), by: [.provider])
        let oldest = Rules.make(
            "Late",
            .queueAge(QueueAgeCondition(above: RuleDuration(minutes: 2), for: RuleDuration(minutes: 5))),
            by: [.provider]
        )
        let codes = Rules.make("Codes", .firstSight(FirstSightCondition()), by: FirstSightCondition.by)
        let clients = Rules.make("Clients", .reregistration(ReregistrationCondition(below: Fraction(1, 2))), by: [.provider])
        try await withDatabaseURL { url in
            let pool = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 4), logger: .silent)
            defer { pool.close() }
            let traffic = try await Traffic(pool, daysBack: 2)
            try await traffic.addFacts(Traffic.start - 2 * 1440, count: 1)
            try await traffic.addFacts(Traffic.start + 35, count: 3, reason: "unknown", code: "it's new")
            for minute in 0..<40 {
                try await pool.execute(
                    "INSERT INTO sendBacklogMinutes VALUES (\((Traffic.start + minute).timestamp), 'fcm', \(Int64(minute * 10)), 300)"
                )
            }
            // Nine days of cohorts of which half return, then a day of which a tenth does.
            try await pool.execute(
                """
                INSERT INTO deviceReregistrationHours
                SELECT \((Traffic.start - 48 * 60).timestamp)::timestamptz - i * interval '1 hour', 'fcm', 'a', 20,
                       CASE WHEN i < 24 THEN 2 ELSE 10 END
                FROM generate_series(0, 240) AS i
                """
            )
            let evaluator = RuleEvaluator.forTest(pool, [backlog, oldest, codes, clients])
            try await evaluator.evaluate(minutes: -1440)
            try await evaluator.evaluate(minutes: 40)
            #expect(evaluator.faults == [:])
            let alerts = try await AlertStore.open(on: pool)
            #expect(Set(alerts.map(\.rule)) == ["Growth", "Late", "Codes", "Clients"])
            for alert in alerts {
                let answer = try Psql.run(alert.reproduceSQL, at: url)
                #expect(answer.status == 0 && !answer.text.isEmpty, "\(alert.rule): \(answer.text)")
                #expect(answer.text.split(separator: "\n").count >= 3, "\(alert.rule): \(answer.text)")
            }
        }
    }
}
