import AlertRules
import Alerting
import Cricket
import Foundation
import LiveActivities
import Logging
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Server

@Suite("Alerts of silent score feeds")
struct SilentFeedAlertTests {
    private func state(_ sequence: Int64, _ overs: String, at moment: Timestamp) throws -> MatchScore {
        let json =
            #"{"matchId":"m1","sequence":\#(sequence),"updatedAt":"\#(moment.rfc3339)","phase":"live","#
            + #""teams":[{"name":"Ash","short":"A"},{"name":"Birch","short":"B"}],"#
            + #""innings":[{"number":1,"team":"A","runs":\#(sequence),"wickets":0,"overs":"\#(overs)"}]}"#
        return try MatchScore.read(json: Array(json.utf8))
    }

    /// The alerts as `rule kind`, by their minute since `start`.
    private func alerts(_ pool: PostgresPool, since start: Timestamp) async throws -> [String] {
        try await pool.query("SELECT rule, severity::text, firedAt, resolvedAt FROM alerts ORDER BY firedAt, rule").map {
            let (rule, severity, fired, resolved) = try $0.decode((String, String, Timestamp, Timestamp?).self)
            let end = resolved.map { "-\(Minute($0) - Minute(start))" } ?? ""
            return "\(rule) \(severity) \(Minute(fired) - Minute(start))\(end)"
        }
    }

    @Test(
        "the shipped rules: a feed that stops is a ticket, or a page with many followers, within minutes, for three days, until it is back"
    )
    func threeDays() async throws {
        try await withDatabase { pool in
            let start = Minute(.now() - .seconds(4 * 86_400)).timestamp
            let clock = Mutex(start)
            let matches = MatchStore(pool: pool)
            let rules = AlertsDirectory(path: ProjectDirectory.alerts).ruleSet().rules.filter { $0.name.hasPrefix("FeedSilent") }
            #expect(rules.count == 2)
            let evaluator = RuleEvaluator(
                pool: pool,
                rules: RuleRegistry(rules: rules, logger: Logger(label: "test")),
                receivers: ReceiverRegistry(fixed: [.log], logger: Logger(label: "test")),
                feeds: FeedHealthStore(pool: pool).alertSamples,
                logger: Logger(label: "test"),
                now: { clock.withLock { $0 } }
            )
            func pass(_ minutes: ClosedRange<Int64>, confirming: Bool = false) async throws {
                for minute in minutes {
                    let now = start + .seconds(minute * 60 + 10)
                    clock.withLock { $0 = now }
                    if confirming { _ = try await matches.accept(try state(2, "0.2", at: start + .seconds(60)), now: now) }
                    try await evaluator.evaluate(through: start + .seconds(minute * 60))
                }
            }
            try await pool.execute(
                "INSERT INTO follows (userId, matchId, followedAt) SELECT 'u' || i, 'm1', \(start) FROM generate_series(1, 1001) i"
            )
            _ = try await matches.accept(try state(1, "0.1", at: start), now: start)
            _ = try await matches.accept(try state(2, "0.2", at: start + .seconds(60)), now: start + .seconds(60))
            try await pass(1...10)
            let fired = try await alerts(pool, since: start)
            #expect(fired.count == 2 && fired.allSatisfy { $0.hasSuffix(" 7") || $0.hasSuffix(" 8") }, "\(fired)")
            #expect(fired.map { $0.split(separator: " ")[1] } == ["ticket", "page"])
            let group = try await pool.query("SELECT groupKey FROM alerts LIMIT 1")[0].decode(String.self)
            #expect(group.contains("pushed: m1"))
            // Three days later, after a gap in which nobody evaluated: still the same two alerts.
            try await pass((3 * 1440)...(3 * 1440 + 8))
            #expect(try await alerts(pool, since: start) == fired)
            try await pass((3 * 1440 + 9)...(3 * 1440 + 15), confirming: true)
            let ended = try await alerts(pool, since: start)
            #expect(ended.count == 2 && ended.allSatisfy { $0.contains("-43") }, "\(ended)")
        }
    }
}
