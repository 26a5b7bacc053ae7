import LiveActivities
import Postgres
import TestDatabase
import Testing

@Suite("The tables of Live Activities")
struct SchemaTests {
    @Test(
        "L-22, L-23: the tables have the columns of the seeds",
        arguments: [
            (
                "liveactivities",
                ["matchid", "userid", "deviceid", "instance", "status", "updatetoken", "endreason", "createdat", "expiresat"]
            ),
            ("activematches", ["matchid", "previousscores", "cooldowns", "lastballs", "pollerstate", "lastupdatedat", "expiresat"]),
            ("follows", ["userid", "matchid", "followedat"]),
        ]
    )
    func columns(_ table: String, _ names: [String]) async throws {
        try await withDatabase { pool in
            let rows = try await pool.query("SELECT column_name::text FROM information_schema.columns WHERE table_name = \(table)")
            let present = Set(try rows.map { try $0.decode(String.self) })
            #expect(present.isSuperset(of: names))
        }
    }

    @Test(
        "L-22e: the moments of activities, matches and follows are timestamps",
        arguments: [
            ("liveactivities", ["createdat", "expiresat"]), ("activematches", ["expiresat", "lastupdatedat"]), ("follows", ["followedat"]),
        ]
    )
    func moments(_ table: String, _ names: [String]) async throws {
        try await withDatabase { pool in
            let rows = try await pool.query(
                """
                SELECT column_name::text FROM information_schema.columns
                WHERE table_name = \(table) AND column_name = ANY(\(names)) AND data_type = 'timestamp with time zone' ORDER BY 1
                """
            )
            #expect(try rows.map { try $0.decode(String.self) } == names)
        }
    }

    @Test(
        "L-22, L-23: an activity is keyed by match, user, device and instance, a match by its id",
        arguments: [("liveactivities", ["deviceid", "instance", "matchid", "userid"]), ("activematches", ["matchid"])]
    )
    func keys(_ table: String, _ names: [String]) async throws {
        try await withDatabase { pool in
            let rows = try await pool.query(
                """
                SELECT a.attname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey) WHERE c.relname = \(table) AND i.indisprimary ORDER BY 1
                """
            )
            #expect(try rows.map { try $0.decode(String.self) } == names)
        }
    }

    @Test("L-22: an activity is pending, active or ended, and an ended one has its reason")
    func states() async throws {
        try await withDatabase { pool in
            let states = try await pool.query("SELECT unnest(enum_range(NULL::activityStatus))::text").map { try $0.decode(String.self) }
            #expect(states == ["pending", "active", "ended"])
            let withoutReason = await #expect(throws: PostgresError.self) { try await pool.insertActivity("ended", endReason: nil) }
            #expect(withoutReason?.code.rawValue == "23514")
            let otherReason = await #expect(throws: PostgresError.self) { try await pool.insertActivity("ended", endReason: "bored") }
            #expect(otherReason?.code.rawValue == "23514")
            let reasons = EndReason.allCases.map(\.rawValue)
            #expect(Set(reasons).isSuperset(of: ["match_end", "user_unfollow", "user_dismissed", "token_invalid"]))
            for (index, reason) in reasons.enumerated() { try await pool.insertActivity("ended", endReason: reason, instance: index + 1) }
        }
    }

    @Test("L-23: no list of last balls is longer than 30")
    func lastBalls() async throws {
        try await withDatabase { pool in
            func insert(_ count: Int) async throws {
                try await pool.execute(
                    """
                    INSERT INTO activeMatches (matchId, phase, displayState, stateHash, stateTimestamp, stateBuiltAt, lastUpdatedAt, lastBalls)
                    VALUES ('m' || \(count), 'live', '{}', '', 0, now(), now(),
                        (SELECT coalesce(jsonb_agg(i), '[]') FROM generate_series(1, \(count)) AS i))
                    """
                )
            }
            try await insert(30)
            let error = await #expect(throws: PostgresError.self) { try await insert(31) }
            #expect(error?.code.rawValue == "23514")
        }
    }

    @Test("L-23: a poller is polling, paused or ended")
    func pollerState() async throws {
        try await withDatabase { pool in
            let error = await #expect(throws: PostgresError.self) {
                try await pool.execute(
                    """
                    INSERT INTO activeMatches (matchId, phase, displayState, stateHash, stateTimestamp, stateBuiltAt, lastUpdatedAt, pollerState)
                    VALUES ('m', 'live', '{}', '', 0, now(), now(), 'asleep')
                    """
                )
            }
            #expect(error?.code.rawValue == "23514")
        }
    }

    @Test("a key has at most one activity that waits and one that runs")
    func instances() async throws {
        try await withDatabase { pool in
            try await pool.insertActivity("pending", instance: 1)
            let error = await #expect(throws: PostgresError.self) { try await pool.insertActivity("pending", instance: 2) }
            #expect(error?.code == .uniqueViolation)
            try await pool.insertActivity("ended", endReason: "token_invalid", instance: 3)
        }
    }
}

extension PostgresPool {
    fileprivate func insertActivity(_ status: String, endReason: String? = nil, instance: Int = 1) async throws {
        try await execute(
            """
            INSERT INTO liveActivities (matchId, userId, deviceId, instance, status, endReason, attributesType, app, environment, createdAt)
            VALUES ('m', 'ann', 'phone', \(instance), \(status), \(endReason), 'A', 'app', 'production', now())
            """
        )
    }
}
