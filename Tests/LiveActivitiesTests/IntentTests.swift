import Attempts
import Logging
import Postgres
import Providers
import PushContract
import Synchronization
import TestDatabase
import TestSupport
import Testing

@testable import Delivery
@testable import LiveActivities

/// What is written down before a push leaves, so that its try has a row whatever becomes of the process.
@Suite("Pushes under way")
struct IntentTests {
    /// An APNs that answers when it is told to.
    private final class GatedAPNs: PushProvider {
        private let attempts = Mutex<[String]>([])
        let gate = Gate()

        var asked: [String] { attempts.withLock { $0 } }

        func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
            attempts.withLock { $0.append(attemptId) }
            await gate.wait()
            return .sent(messageId: "m", httpStatus: 200, latency: .milliseconds(1))
        }
    }

    private static let kept = "SELECT coalesce(sum(cardinality(uids)), 0)::bigint FROM pushIntents" as Query
    private static let rows = "SELECT count(*) FROM notificationDeliveryAttempts WHERE pushType = 'liveactivity'" as Query

    @Test("an update is written down before it leaves, and forgotten with its outcome; a start and an end have their leases")
    func lifetime() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            for number in 1...3 { try await bench.running("user\(number)", "phone\(number)", number) }
            try await bench.follows.unfollow(userId: "user3", matchId: "m1", now: bench.now)
            try await bench.phone("eve", "tablet", 9)
            try await bench.follow("eve")
            try await bench.score(runs: 2)
            await bench.engine.release()
            let before = try await bench.count(Self.rows)
            let apns = GatedAPNs()
            let next = LiveInstance(bench.pool, LiveConfiguration(), lookup: { _, _, _ in apns }, clock: bench.clock)
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { apns.gate.open() }
                group.addTask { try await next.engine.runUntilIdle() }
                try await eventually("the updates are in flight") { apns.asked.count == 2 }
                group.addTask { try await next.send() }
                try await eventually("the start and the end are in flight, too") { apns.asked.count == 4 }
                #expect(try await bench.count(Self.kept) == 2, "two updates")
                #expect(try await bench.count("SELECT count(*) FROM pushLeasedDeliveries") == 2, "a start and an end")
                #expect(try await bench.count(Self.rows) == before)
                let operations = try await bench.pool.query("SELECT split_part(unnest(operationKeys), ':', 6) FROM pushIntents ORDER BY 1")
                    .map { try $0.decode(String.self) }
                #expect(operations == ["state", "state"])
                apns.gate.open()
                try await group.waitForAll()
            }
            #expect(try await bench.count(Self.kept) == 0)
            #expect(try await bench.count("SELECT count(*) FROM pushLeases") == 0)
            #expect(try await bench.count(Self.rows) == before + 4)
        }
    }

    @Test("what a dead process had under way becomes an attempt of unknown outcome after two minutes, once, and a known outcome stays")
    func leftOver() async throws {
        try await LiveBench.with { bench in
            let store = IntentStore(pool: bench.pool, record: BenchParts.recorder())
            let intents = try (1...3).map(Self.intent)
            try await store.save(intents, owner: "dead", number: 1)
            try await bench.pool.performTransaction { connection in
                let answered = Attempt(intents[0], .sent(messageId: "m", httpStatus: 200, latency: .zero), at: bench.now)
                try BenchParts.recorder()([answered], connection)
            }
            #expect(try await store.resolveLost() == 0, "its owner may still be alive")
            #expect(try await bench.count(Self.rows) == 1)
            try await bench.pool.execute("UPDATE pushIntents SET startedAt = startedAt - interval '121 seconds'")
            try await bench.run()
            let rows = try await bench.pool.query(
                "SELECT uid, status, providerErrorCode, reasonCode FROM notificationDeliveryAttempts WHERE pushType = 'liveactivity' ORDER BY uid"
            ).map { try $0.decode((String, String, String?, String?).self) }
            #expect(rows.map(\.0) == ["user1", "user2", "user3"])
            #expect(rows.map(\.1) == ["sent", "failed", "failed"])
            #expect(rows.map(\.2) == [nil, "OutcomeUnknown", "OutcomeUnknown"])
            #expect(rows.map(\.3) == [nil, "network", "network"])
            #expect(try await bench.count(Self.kept) == 0)
            try await bench.run()
            #expect(try await bench.count(Self.rows) == 3)
        }
    }

    @Test("what cannot be written down does not leave, and leaves when it can")
    func notSaved() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            try await bench.pool.execute("ALTER TABLE pushIntents RENAME TO away")
            try await bench.score(runs: 2)
            try await bench.run(all: false)
            #expect(bench.apns.calls.isEmpty)
            try await bench.pool.execute("ALTER TABLE away RENAME TO pushIntents")
            bench.clock.advance(.seconds(2))
            try await bench.run()
            #expect(bench.apns.calls("update").count == 1)
            #expect(try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE requestId LIKE 'live:%'") == 1)
            #expect(try await bench.count(Self.kept) == 0)
        }
    }

    @Test("whoever takes a match over tries the same state as a try of its own: another row, and the same apns-id")
    func takenOver() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            bench.apns.answer(LiveBench.updateToken(1), .apns(503, "ServiceUnavailable"))
            try await bench.score(runs: 2)
            try await bench.run()
            try await bench.pool.execute("UPDATE activeMatches SET leaseUntil = clock_timestamp() - interval '1 second'")
            try await bench.another(owner: "second").runUntilIdle()
            #expect(bench.apns.calls("update").count == 2)
            #expect(Set(bench.apns.calls("update").map(\.attemptId)).count == 1)
            let statuses = try await bench.pool.query(
                "SELECT status FROM notificationDeliveryAttempts WHERE requestId LIKE 'live:%' ORDER BY status"
            ).map { try $0.decode(String.self) }
            #expect(statuses == ["sent", "failed"])
        }
    }

    @Test("a group is forgotten with the last of its outcomes, and never when one of them is lost")
    func counting() {
        let open = OpenGroups()
        let first = open.open(2)
        let second = open.open(3)
        open.answer([first, second])
        #expect(open.answered.isEmpty)
        open.answer([first])
        #expect(open.answered == [first])
        open.discard([first])
        open.abandon(second)
        open.answer([second, second])
        #expect(open.answered.isEmpty)
        let third = open.open(1)
        open.answer([third])
        open.abandon(third)
        #expect(open.answered.isEmpty)
    }

    private static func intent(_ number: Int) throws -> AttemptIdentity {
        ActivityKey(subject: "m1", userId: "user\(number)", deviceId: "phone\(number)", instance: 1).attempt(
            "state:1:1",
            tokenHash: try PushToken(LiveBench.updateToken(number), provider: .apns).hash,
            app: "com.example.app",
            environment: .production,
            attemptNumber: 1,
            requestId: "live:m1:1"
        )
    }
}
