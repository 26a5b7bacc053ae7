import Attempts
import Postgres
import PushContract
import Testing

@testable import LiveActivities

@Suite("Checking what is stored of Live Activities")
struct LiveFsckTests {
    private func faults(_ bench: LiveBench) async throws -> [String: Int] {
        let lines = try await Fsck([LiveActivitiesCheck()], pool: bench.pool, pause: .zero, now: .now()).run().lines
        return Dictionary(uniqueKeysWithValues: lines.map { ($0.check, $0.faultCount) }).filter { $0.value > 0 }
    }

    @Test(
        "a match that was played is clean, and what is planted is found",
        arguments: [
            ("SELECT 1", [:]),
            (
                """
                INSERT INTO pushIntents VALUES ('dead', 1, now() - interval '11 minutes', '{ann}', '{ios}', '{apns}', '{production}', '{a}', '{h}',
                    '{o}', '{1}', '{r}', '{liveactivity}')
                """, ["livePushes": 1]
            ),
            ("UPDATE activityStarts SET outcome = NULL", ["liveStarts": 1]),
            ("UPDATE liveActivities SET lastTimestampSent = lastTimestampSent + 1000", ["liveStates": 1]),
        ] as [(String, [String: Int])]
    )
    func planted(_ statement: String, _ expected: [String: Int]) async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            try await bench.score(runs: 2)
            try await bench.run()
            try await bench.pool.execute("\(raw: statement)")
            #expect(try await faults(bench) == expected)
        }
    }
}
