import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Postgres
import PushContract
import Testing

@testable import OnCall

@Suite("The site: matches and activities")
struct MatchesTests {
    private static let reading: HTTPFields = [.cookie: "s=alerts:read", .accept: "text/html"]
    private static let now = OnCallRoutesTests.now

    /// A live match with four activities: two have the newest state, one has not, one waits for its token; one more has ended. And an
    /// order of another type.
    private static func seed(_ pool: PostgresPool) async throws {
        let state =
            #"{"event":"Final","innings":[{"no":1,"overs":"17.3","runs":154,"team":"BRX","wickets":6}],"status":"BRX lead","title":"BRX v SYD"}"#
        let built = now - .seconds(20)
        let lease = now + .seconds(30)
        try await pool.execute(
            """
            INSERT INTO activeMatches (matchId, phase, displayState, seq, stateHash, stateTimestamp, stateBuiltAt, pollerState, owner,
                leaseUntil, lastUpdatedAt)
            VALUES ('final/26', 'live', \(state), 41, 'h', 1000, \(built), 'polling', 'node-1', \(lease), \(built))
            """
        )
        try await pool.execute(
            "INSERT INTO follows (userId, matchId, followedAt) SELECT 'u' || i, 'final/26', \(built) FROM generate_series(1, 5) AS i"
        )
        try await pool.execute(
            """
            INSERT INTO liveActivities (matchId, userId, deviceId, instance, status, endReason, attributesType, app, environment,
                updateToken, updateTokenHash, createdAt, startAcceptedAt, lastTimestampSent, lastSentAt)
            SELECT 'final/26', uid, 'd-' || uid, 1, state::activityStatus, reason, 'MatchActivityAttributes', 'com.example.app', 'production',
                CASE WHEN state = 'active' THEN 't-' || uid END, CASE WHEN state = 'active' THEN 'h-' || uid END, \(now - .seconds(3_000)),
                \(now - .seconds(2_990)), stamp, \(built) + age * interval '1 second'
            FROM (VALUES ('ann', 'active', NULL, 1000, 0.4), ('ben', 'active', NULL, 1000, 1.2), ('cat/3', 'active', NULL, 999, -40),
                ('dan', 'pending', NULL, 0, NULL), ('eva', 'ended', 'token_invalid', 900, -90)) AS a (uid, state, reason, stamp, age)
            """
        )
        try await pool.execute(
            """
            INSERT INTO activityStarts (deliveryId, matchId, userId, deviceId, instance, claimedAt, outcome, adoptedAt)
            VALUES (1, 'final/26', 'ann', 'd-ann', 1, \(now - .seconds(3_000)), 'accepted', \(now - .seconds(2_996))),
                   (2, 'final/26', 'dan', 'd-dan', 1, \(now - .seconds(2_990)), 'accepted', NULL),
                   (3, 'final/26', 'eva', 'd-eva', 1, \(now - .seconds(2_980)), 'rejected', NULL)
            """
        )
        try await pool.execute(
            """
            INSERT INTO activitySubjects (subject, attributesType, attributes, contentState, stateHash, stateTimestamp, stateBuiltAt,
                startAlertTitle, startAlertBody, createdAt, lastUpdatedAt)
            VALUES ('OrderAttributes/77', 'OrderAttributes', '{}', '{"step":"baking"}', 'h', 5, \(built), 't', 'b', \(built), \(built))
            """
        )
        try await pool.execute(
            """
            INSERT INTO follows (userId, matchId, followedAt, expiresAt)
            VALUES ('ann', 'OrderAttributes/77', \(built), NULL), ('ben', 'OrderAttributes/77', \(built), \(now + .seconds(60))),
                   ('cat', 'OrderAttributes/77', \(built), \(now))
            """
        )
        try await pool.execute(
            """
            INSERT INTO attemptRollups
            SELECT \(now.flooredToMinute() - .seconds(60)), 'apns', 'ios', 'send', status::pushStatus, reason, 'com.example.app', 'production',
                'liveactivity', 0, attempts, attempts * 30, attempts
            FROM (VALUES ('sent', '', 149), ('failed', 'network', 1)) AS o (status, reason, attempts)
            """
        )
    }

    private func page(_ path: String, _ check: @Sendable @escaping (String, HTTPResponse.Status) -> Void) async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            try await Self.seed(pool)
            let answer = try await client.execute(uri: path, method: .get, headers: Self.reading)
            check(String(buffer: answer.body), answer.status)
        }
    }

    @Test("the overview counts followers and activities, says who is behind, and how pushes fare")
    func overview() async throws {
        try await page("/oncall/matches") { html, _ in
            for text in [
                "2 on, 3 Live Activities", "10 pushes a minute over 15 min, 30 ms on average, 0.67 % failed.", "1 network (0.67 %)",
                "<a href=\"/oncall/matches/final%2F26\">BRX v SYD</a> BRX lead<span class=\"detail\">live, final/26, updated 20 s ago</span>",
                "data-name=\"Followers\">5</td><td class=\"n\" data-name=\"Active\">3</td>"
                    + "<td class=\"n\" data-name=\"Behind\"><span class=\"warn\">1</span></td>"
                    + "<td class=\"n\" data-name=\"Pending\">1</td><td class=\"n\" data-name=\"Ended\">1</td>",
                "<a href=\"/oncall/matches/OrderAttributes%2F77\">OrderAttributes/77</a> OrderAttributes"
                    + "<span class=\"detail\">live, updated 20 s ago</span></td><td class=\"n\" data-name=\"Followers\">2</td>",
            ] { #expect(html.contains(text), "\(text) is missing in \(html)") }
        }
    }

    @Test("a match's page: score, how far the newest state got and how fast, starts, and by name who is not as they should be")
    func match() async throws {
        try await page("/oncall/matches/final%2F26") { html, _ in
            for text in [
                "final/26 · Final · live", "154/6 (17.3)", "2 of 3 active ones have the newest state; 1 wait for it.",
                "half within 0.8 s, 99 % within 1.2 s, the last after 1.2 s",
                "3 started in the last hour; 1 gave their update token, half of them within 4.0 s",
                "1 refused by the provider", "ended: token invalid", "<a href=\"/people/cat%2F3\">cat/3</a>", "not sent the newest state",
                "<a href=\"/people/dan\">dan</a>", "started, and no update token has come", "node-1", "polling",
            ] { #expect(html.contains(text), "\(text) is missing in \(html)") }
            #expect(!html.contains("/people/ann"), "who has it is not named")
            #expect(!html.contains("t-ann"), "no token is shown")
        }
    }

    @Test(
        "what its source confirms no more is marked in the overview and on its page: a match after five minutes, another subject after freshFor",
        arguments: [
            ("final%2F26", Query("UPDATE activeMatches SET confirmedAt"), Int64(299), Int64(301)),
            ("OrderAttributes%2F77", "UPDATE activitySubjects SET freshFor = 600, confirmedAt", 599, 601),
        ]
    )
    func silent(_ subject: String, _ confirm: Query, _ quiet: Int64, _ silent: Int64) async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            try await Self.seed(pool)
            func shown() async throws -> [Bool] {
                var shown: [Bool] = []
                for path in ["/oncall/matches", "/oncall/matches/\(subject)"] {
                    let answer = try await client.execute(uri: path, method: .get, headers: Self.reading)
                    shown.append(String(buffer: answer.body).contains("has confirmed nothing for"))
                }
                return shown
            }
            try await pool.execute("\(confirm) = \(Self.now - .seconds(quiet))")
            #expect(try await shown() == [false, false])
            try await pool.execute("\(confirm) = \(Self.now - .seconds(silent))")
            #expect(try await shown() == [true, true])
        }
    }

    @Test("another subject has the same page, without a score; an unknown one is reported")
    func others() async throws {
        try await page("/oncall/matches/OrderAttributes%2F77") { html, _ in
            #expect(html.contains("OrderAttributes/77") && html.contains("&quot;step&quot; : &quot;baking&quot;"))
            #expect(html.contains("No activity is active") && html.contains("None was started yet."))
        }
        try await page("/oncall/matches/nothing") { html, status in
            #expect(status == .notFound && html.contains("There is no match"))
        }
    }
}
