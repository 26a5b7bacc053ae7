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

    /// A source and its group: a pushed match, and a type whose service sends the state of a subject at least every two minutes.
    enum Source: String, CaseIterable, CustomTestStringConvertible {
        case match = "m1"
        case parcels = "DeliveryActivityAttributes"

        var subject: String { self == .match ? rawValue : "\(rawValue)/p1" }
        var testDescription: String { rawValue }
    }

    /// What a source does: its first state, the second one, and the same again.
    private func send(_ source: Source, _ number: Int64, since start: Timestamp, at now: Timestamp, _ pool: PostgresPool) async throws {
        switch source {
        case .match:
            _ = try await MatchStore(pool: pool).accept(try state(number, "0.\(number)", at: start + .seconds(60 * (number - 1))), now: now)
        case .parcels:
            try await pool.execute(
                """
                INSERT INTO activitySubjects (subject, attributesType, attributes, contentState, stateHash, stateTimestamp, stateBuiltAt,
                    startAlertTitle, startAlertBody, freshFor, confirmedAt, createdAt, lastUpdatedAt)
                VALUES (\(source.subject), \(source.rawValue), '{}', '{}', 'h', \(now.seconds), \(now), 't', 'b', 120, \(now), \(now),
                    \(now))
                ON CONFLICT (subject) DO UPDATE SET confirmedAt = excluded.confirmedAt
                """
            )
        }
    }

    @Test(
        "the shipped rules: a source that stops is a ticket, or a page with many followers, within minutes, for three days, until it is back",
        arguments: Source.allCases
    )
    func threeDays(_ source: Source) async throws {
        try await withDatabase { pool in
            let start = Minute(.now() - .seconds(4 * 86_400)).timestamp
            let clock = Mutex(start)
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
                    if confirming { try await send(source, 2, since: start, at: now, pool) }
                    try await evaluator.evaluate(through: start + .seconds(minute * 60))
                }
            }
            try await pool.execute(
                "INSERT INTO follows (userId, matchId, followedAt) SELECT 'u' || i, \(source.subject), \(start) FROM generate_series(1, 1001) i"
            )
            for number in [Int64(1), 2] {
                try await send(source, number, since: start, at: start + .seconds(60 * (number - 1)), pool)
            }
            try await pass(1...10)
            let fired = try await alerts(pool, since: start)
            #expect(fired.count == 2 && fired.allSatisfy { $0.hasSuffix(" 7") || $0.hasSuffix(" 8") }, "\(fired)")
            #expect(fired.map { $0.split(separator: " ")[1] } == ["ticket", "page"])
            let group = try await pool.query("SELECT groupKey FROM alerts LIMIT 1")[0].decode(String.self)
            #expect(group.contains("pushed: \(source.rawValue)"))
            // Three days later, after a gap in which nobody evaluated: still the same two alerts.
            try await pass((3 * 1440)...(3 * 1440 + 8))
            #expect(try await alerts(pool, since: start) == fired)
            try await pass((3 * 1440 + 9)...(3 * 1440 + 15), confirming: true)
            let ended = try await alerts(pool, since: start)
            #expect(ended.count == 2 && ended.allSatisfy { $0.contains("-43") }, "\(ended)")
        }
    }
}
