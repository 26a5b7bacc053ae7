import Postgres
import Testing

@testable import LiveActivities

@Suite("How much a user may follow")
struct FollowLimitTests {
    @Test("of subjects of which nothing is known a user follows the newest thousand; follows of what is known and of others stay")
    func unknown() async throws {
        try await LiveBench.with { bench in
            try await bench.score("m1", runs: 1)
            try await bench.follow("ann", "m1")
            try await bench.pool.execute(
                """
                INSERT INTO follows (userId, matchId, followedAt)
                SELECT u, 'x' || n, \(bench.now) + n * interval '1 second'
                FROM unnest(ARRAY['ann', 'bob']) u, generate_series(1, \(FollowStore.unknownLimit)) n
                """
            )
            bench.clock.advance(.seconds(7200))
            try await bench.follow("ann", "newest")
            let follows = try await bench.follows.follows(of: "ann", now: bench.now)
            #expect(follows.count == FollowStore.unknownLimit + 1)
            #expect(follows.first == "m1" && follows[1] == "x2" && follows.last == "newest")
            #expect(try await bench.follows.follows(of: "bob", now: bench.now).count == FollowStore.unknownLimit)
        }
    }
}
