import Delivery
import Postgres
import Providers
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("The life of an activity, whatever happens")
struct LifecyclePropertyTests {
    @Test("no order of calls, answers and clocks breaks the rules of its states", arguments: 1...4)
    func rules(_ seed: UInt64) async throws {
        try await LiveBench.with { bench in
            var random = SplitMix64(seed: seed)
            var ended: Set<String> = []
            try await bench.score(runs: 0)
            for number in 1...3 { try await bench.phone("ann", "d\(number)", number) }
            for step in 1...70 {
                try await act(bench, step, &random)
                let rows = try await bench.pool.query(
                    """
                    SELECT userId || deviceId, instance, status, updateTokenHash,
                        EXISTS (SELECT 1 FROM follows f WHERE f.userId = a.userId AND f.matchId = a.matchId)
                    FROM liveActivities a
                    """
                ).map { try $0.decode((String, Int32, String, String?, Bool).self) }
                // What ended stays ended.
                for row in rows where ended.contains("\(row.0)/\(row.1)") { #expect(row.2 == "ended", "step \(step)") }
                ended.formUnion(rows.filter { $0.2 == "ended" }.map { "\($0.0)/\($0.1)" })
                // A token is active in one place at most.
                let tokens = rows.filter { $0.2 == "active" }.compactMap(\.3)
                #expect(Set(tokens).count == tokens.count, "step \(step)")
                // Nothing waits or runs for somebody who does not follow.
                #expect(rows.allSatisfy { $0.4 || $0.2 == "ended" }, "step \(step)")
                // One that runs and one that waits for each device at most.
                for open in Dictionary(grouping: rows.filter { $0.2 != "ended" }, by: \.0).values { #expect(open.count <= 2) }
            }
            for stamps in Dictionary(grouping: bench.apns.calls.filter { $0.event != "start" }, by: \.token).values {
                let accepted = stamps.map(\.timestamp)
                #expect(zip(accepted, accepted.dropFirst()).allSatisfy { $0 <= $1 })
            }
            #expect(
                try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE eventType = 'send'")
                    == bench.apns.calls.count
            )
        }
    }

    private func act(_ bench: LiveBench, _ step: Int, _ random: inout SplitMix64) async throws {
        let device = "d\(1 + random.next() % 3)"
        let number = Int(random.next() % 6) + 1
        let cause = DismissalCause.allCases[Int(random.next() % 3)]
        let instance = random.next() % 2 == 0 ? nil : Int(random.next() % 4) + 1
        bench.clock.advance(.seconds(Int(random.next() % 400)))
        switch random.next() % 10 {
        case 0, 1: try await bench.follow("ann", from: device, startsHere: random.next() % 3 == 0)
        case 2: try await bench.follows.unfollow(userId: "ann", matchId: "m1", now: bench.now)
        case 3: try await bench.dismiss("ann", device, cause: cause, instance: instance)
        case 4, 5: try await bench.postToken("ann", device, number, instance: instance)
        case 6:
            bench.apns.answer(LiveBench.updateToken(number), .apns(410, "Unregistered"))
            try await bench.score(runs: step)
        case 7: bench.apns.answer(LiveBench.updateToken(number), .apns(503, "ServiceUnavailable"))
        case 8: try await bench.score(runs: step, event: ("six", 12))
        default: bench.clock.advance(.seconds(600))
        }
        try await bench.run()
    }

    @Test("calls that come twice change nothing the second time")
    func idempotent() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            func snapshot() async throws -> [String] {
                try await bench.pool.query("SELECT to_jsonb(a)::text FROM liveActivities a ORDER BY 1").map { try $0.decode(String.self) }
            }
            let before = try await snapshot()
            bench.clock.advance(.seconds(5))
            try await bench.follow("ann")
            try await bench.postToken("ann", "phone", 1)
            #expect(try await snapshot() == before)
            try await bench.dismiss("ann", "phone")
            let after = try await snapshot()
            bench.clock.advance(.seconds(5))
            try await bench.dismiss("ann", "phone")
            try await bench.follows.unfollow(userId: "ann", matchId: "m1", now: bench.now)
            #expect(try await snapshot() == after)
        }
    }

    @Test("follows, tokens, dismissals and unfollows of one activity at once leave one state that all of them agree with")
    func concurrent() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.run()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...24 {
                    group.addTask {
                        switch number % 4 {
                        case 0: try await bench.follow("ann")
                        case 1: try await bench.postToken("ann", "phone", number)
                        case 2: try await bench.follows.unfollow(userId: "ann", matchId: "m1", now: bench.now)
                        default: _ = try await bench.engine.stores.orchestrator.createMissing(after: ["m1": ""], now: bench.now)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await bench.follows.unfollow(userId: "ann", matchId: "m1", now: bench.now)
            #expect(try await bench.count("SELECT count(*) FROM liveActivities WHERE status <> 'ended'") == 0)
        }
    }
}
