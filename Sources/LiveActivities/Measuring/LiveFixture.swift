package import Delivery
package import Postgres
package import PushContract

/// Followers in any number, for measurements and for tests of scale: written set by set, not call by call.
package struct LiveFixture: Sendable {
    package static let app = "com.example.bench"

    private let pool: PostgresPool
    private let cipher: TokenCipher

    package init(pool: PostgresPool, cipher: TokenCipher) {
        self.pool = pool
        self.cipher = cipher
    }

    /// Hexadecimal, and its number can be read from it.
    package static func token(_ kind: Character, _ number: Int) -> String {
        let digits = String(number)
        return String(repeating: kind, count: 64 - 12) + String(repeating: "0", count: 12 - digits.count) + digits
    }

    package static func number(of token: String) -> Int { Int(token.suffix(12)) ?? 0 }

    /// Devices of as many users, each with a start token, all following the match.
    package func followers(_ numbers: Range<Int>, of match: String, now: Timestamp) async throws {
        for batch in LiveFixture.batches(numbers) {
            let starts = try batch.map { try PushToken(LiveFixture.token("b", $0), provider: .apns) }
            let pushes = try batch.map { try PushToken(LiveFixture.token("a", $0), provider: .apns) }
            try await pool.execute(
                """
                INSERT INTO devices (userId, deviceId, platform, provider, environment, app, pushToken, pushTokenHash, tokenState,
                    tokenStateSince, osVersion, registrationVersion, registeredAt, tokenRegisteredAt, lastSeenAt, expiresAt,
                    pushToStartToken, pushToStartTokenHash, pushToStartTokenState, pushToStartTokenSince, pushToStartRegisteredAt,
                    pushToStartVersion)
                SELECT 'u' || n, 'd' || n, 'ios', 'apns', 'production', \(LiveFixture.app), push, pushHash, 'active', \(now), '18.1',
                    nextval('deviceRegistrationVersions'), \(now), \(now), \(now), \(now) + interval '90 days', start, startHash, 'active',
                    \(now), \(now), nextval('deviceRegistrationVersions')
                FROM unnest(\(batch), \(try pushes.map { try cipher.encrypt($0, as: .push) }), \(pushes.map(\.hash.rawValue)),
                    \(try starts.map { try cipher.encrypt($0, as: .pushToStart) }), \(starts.map(\.hash.rawValue)))
                    AS t(n, push, pushHash, start, startHash)
                """
            )
            try await pool.execute(
                "INSERT INTO follows (userId, matchId, followedAt) SELECT 'u' || n, \(match), \(now) FROM unnest(\(batch)) AS t(n)"
            )
        }
    }

    /// The same with an activity that runs already.
    package func running(_ numbers: Range<Int>, of match: String, now: Timestamp) async throws {
        try await followers(numbers, of: match, now: now)
        for batch in LiveFixture.batches(numbers) {
            let tokens = try batch.map { try PushToken(LiveFixture.token("c", $0), provider: .apns) }
            try await pool.execute(
                """
                INSERT INTO liveActivities (matchId, userId, deviceId, instance, status, attributesType, app, environment, updateToken,
                    updateTokenHash, tokenRegisteredAt, createdAt, activatedAt)
                SELECT \(match), 'u' || n, 'd' || n, 1, 'active', \(MatchSubject.attributesType), \(LiveFixture.app), 'production', token, hash,
                    \(now), \(now), \(now)
                FROM unnest(\(batch), \(try tokens.map { try cipher.encrypt($0, as: .update) }), \(tokens.map(\.hash.rawValue)))
                    AS t(n, token, hash)
                """
            )
        }
    }

    /// A state as a score feed writes one.
    package func score(_ match: String, phase: String, runs: Int, now: Timestamp) async throws {
        let overs = "\(runs / 8).\(runs % 6)"
        let state = """
            {"batters":[{"line":"\(runs % 90) (50)","name":"SS Iyer","strike":true},{"line":"6 (6)","name":"VR Iyer"}],\
            "bowler":{"line":"3-0-38-1","name":"YS Chahal"},"crr":"11.13","event":"Bench","innings":[{"no":1,"overs":"\(overs)",\
            "runs":\(runs),"team":"RR","wickets":5}],"matchId":"\(match)","phase":"\(phase)","recent":["1","4","W","2","6"],"seq":\(runs),\
            "status":"KKR need 40 from 24","tier":1,"title":"RR v KKR","updatedAt":\(now.seconds),"v":1}
            """
        try await pool.execute(
            """
            INSERT INTO activeMatches AS m (matchId, phase, displayState, stateHash, stateTimestamp, stateBuiltAt, lastUpdatedAt,
                confirmedAt)
            VALUES (\(match), \(phase), \(state), \(state), \(now.seconds), \(now), \(now), \(now))
            ON CONFLICT (matchId) DO UPDATE SET phase = excluded.phase, displayState = excluded.displayState, seq = m.seq + 1,
                stateHash = excluded.stateHash, stateTimestamp = greatest(excluded.stateTimestamp, m.stateTimestamp + 1),
                stateBuiltAt = excluded.stateBuiltAt, lastUpdatedAt = excluded.lastUpdatedAt, confirmedAt = excluded.confirmedAt
            """
        )
    }

    /// When the newest state of a match was built, by its `aps.timestamp`.
    package func newest(_ match: String) async throws -> (timestamp: Int64, builtAt: Timestamp) {
        try await pool.query("SELECT stateTimestamp, stateBuiltAt FROM activeMatches WHERE matchId = \(match)")[0]
            .decode((Int64, Timestamp).self)
    }

    private static func batches(_ numbers: Range<Int>) -> [[Int]] {
        stride(from: numbers.lowerBound, to: numbers.upperBound, by: 1000).map { start in
            Array(start..<min(start + 1000, numbers.upperBound))
        }
    }
}
