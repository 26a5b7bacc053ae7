import Cricket
import Foundation
import Postgres
import PushContract

/// A small match, and short ways to its states.
enum MatchSamples {
    /// Past: a state of the future is refused.
    static let now = Timestamp(seconds: 1_750_000_000)

    /// Two overs a side; eleven deliveries, four wickets, a six.
    static func script() throws -> MatchScript {
        func over(_ number: Int, _ bowler: String, _ deliveries: [(batter: String, runs: Int, out: Bool)]) -> [String: Any] {
            [
                "over": number,
                "deliveries": deliveries.map { delivery -> [String: Any] in
                    var document: [String: Any] = [
                        "batter": delivery.batter, "bowler": bowler, "non_striker": "Partner",
                        "runs": ["batter": delivery.runs, "extras": 0, "total": delivery.runs],
                    ]
                    if delivery.out { document["wickets"] = [["player_out": delivery.batter, "kind": "bowled"]] }
                    return document
                },
            ]
        }
        let first = over(
            0,
            "Yew",
            [("Oak", 6, false), ("Oak", 0, true), ("Ash", 0, true), ("Fig", 0, true), ("Elm", 2, false), ("Elm", 4, false)]
        )
        let second = over(0, "Ivy", [("Bay", 4, false), ("Bay", 0, true), ("Box", 6, false), ("Box", 4, false)])
        let document: [String: Any] = [
            "info": [
                "teams": ["Ash Town", "Birch City"], "dates": ["2026-05-01"], "match_type": "T20", "overs": 1,
                "outcome": ["winner": "Birch City", "by": ["wickets": 9]],
            ] as [String: Any],
            "innings": [["team": "Ash Town", "overs": [first]], ["team": "Birch City", "overs": [second]]],
        ]
        return MatchScript(try CricsheetMatch.read(json: try JSONSerialization.data(withJSONObject: document)))
    }

    static func feed(
        _ matchId: String = "m1",
        detail: ReplayDetail = .balls,
        faults: Set<ReplayFault> = [],
        seed: UInt64 = 1
    ) throws -> ReplayFeed {
        ReplayFeed(ReplayPlan(try script(), startAt: now), matchId: matchId, detail: detail, faults: faults, seed: seed)
    }

    static func scores(_ matchId: String = "m1") throws -> [MatchScore] {
        let feed = try feed(matchId)
        return feed.messages.map { feed.score(of: $0) }
    }
}

extension PostgresPool {
    /// One column of the match's row, as text.
    func matchColumn(_ expression: String, _ matchId: String = "m1") async throws -> String? {
        try await query("SELECT (\(raw: expression))::text FROM activeMatches WHERE matchId = \(matchId)").first?.decode(String?.self)
    }
}
