import Delivery
import Logging
import Postgres
import Providers
import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization
import TestDatabase
import TestSupport
import Testing

@testable import LiveActivities

/// The measurement of `pushwatch-dev bench live` in short, with what must hold at any size.
@Suite("Many followers")
struct ScaleTests {
    private static let followers = 300
    private static let states = 12

    /// 5 % of the tokens do not answer before the gate opens, 2 % are gone, the others answer at once.
    private final class FleetAPNs: PushProvider {
        struct Request: Sendable {
            var token: Int
            var timestamp: Int64
            var at: Timestamp
        }

        private struct State {
            var updates: [Request] = []
            var starts: [Int] = []
            var inFlight: Set<Int> = []
            var overlaps = 0
        }

        private let state = Mutex(State())
        let gate = Gate()

        static func isSlow(_ number: Int) -> Bool { number % 20 == 3 }
        static func isDead(_ number: Int) -> Bool { number % 50 == 7 }

        var updates: [Request] { state.withLock { $0.updates } }
        var starts: [Int] { state.withLock { $0.starts } }
        var overlaps: Int { state.withLock { $0.overlaps } }

        func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
            let number = LiveFixture.number(of: target.token)
            guard target.token.hasPrefix("c") else {
                state.withLock { $0.starts.append(number) }
                return .sent(messageId: "s", httpStatus: 200, latency: .zero)
            }
            let body = String(decoding: message.payload?.bytes ?? [], as: UTF8.self)
            let digits = body.firstRange(of: "\"timestamp\":").map { body[$0.upperBound...].prefix(while: \.isNumber) } ?? ""
            state.withLock { state in
                state.updates.append(Request(token: number, timestamp: Int64(digits) ?? 0, at: .now()))
                if !state.inFlight.insert(number).inserted { state.overlaps += 1 }
            }
            if Self.isSlow(number) { await gate.wait() }
            state.withLock { _ = $0.inFlight.remove(number) }
            return Self.isDead(number) ? .apns(410, "Unregistered") : .sent(messageId: "u", httpStatus: 200, latency: .zero)
        }
    }

    @Test("every live token gets the newest state, a slow one skips what it missed, a dead one is given up, and nothing is doubled")
    func fanOut() async throws {
        try await LiveBench.with { bench in
            let fixture = LiveFixture(pool: bench.pool, cipher: BenchParts.cipher)
            try await fixture.running(0..<Self.followers, of: "m", now: .now())
            let apns = FleetAPNs()
            let wake = WakeSignal()
            let stores = LiveStores(pool: bench.pool, cipher: BenchParts.cipher, record: BenchParts.recorder())
            let engine = LiveEngine(stores: stores, lookup: { _, _, _ in apns }, logger: .silent)
            let service = LiveService(engine: engine, wake: wake, logger: .silent)
            let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: .silent))
            var built: [Int64: Timestamp] = [:]
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                let quick = (0..<Self.followers).filter { !FleetAPNs.isSlow($0) && !FleetAPNs.isDead($0) }
                for runs in 1...Self.states {
                    try await fixture.score("m", phase: "live", runs: runs, now: .now())
                    let newest = try await fixture.newest("m")
                    built[newest.timestamp] = newest.builtAt
                    wake.signal()
                    try await eventually("state \(runs) at all quick tokens") {
                        Self.newest(apns.updates, of: quick) == [newest.timestamp]
                    }
                }
                apns.gate.open()
                let newest = try await fixture.newest("m").timestamp
                let alive = (0..<Self.followers).filter { !FleetAPNs.isDead($0) }
                try await eventually("the last state at all live tokens") { Self.newest(apns.updates, of: alive) == [newest] }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            try await expectNothingDoubled(apns, bench)
            let slow = Dictionary(grouping: apns.updates.filter { FleetAPNs.isSlow($0.token) }, by: \.token)
            #expect(slow.count == 15 && slow.values.allSatisfy { $0.count == 2 }, "the first, and after it only the newest")
            report(apns, built)
        }
    }

    private func expectNothingDoubled(_ apns: FleetAPNs, _ bench: LiveBench) async throws {
        #expect(apns.overlaps == 0, "one request to a token at a time")
        for (token, requests) in Dictionary(grouping: apns.updates, by: \.token) {
            let stamps = requests.map(\.timestamp)
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 }, "token \(token)")
            if FleetAPNs.isDead(token) { #expect(stamps.count == 1, "a dead token is asked once") }
        }
        let dead = (0..<Self.followers).count(where: FleetAPNs.isDead)
        #expect(Set(apns.starts).count == apns.starts.count, "no start is sent twice")
        let requests = apns.updates.count + apns.starts.count
        #expect(try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE pushType = 'liveactivity'") == requests)
        #expect(try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE status = 'deactivated'") == dead)
        #expect(try await bench.count("SELECT count(*) FROM liveActivities WHERE endReason = 'token_invalid'") == dead)
        #expect(try await bench.count("SELECT count(*) FROM deactivationLimiters") == 0, "so few dead tokens are nothing unusual")
    }

    private func report(_ apns: FleetAPNs, _ built: [Int64: Timestamp]) {
        let ages = apns.updates.filter { !FleetAPNs.isSlow($0.token) }
            .compactMap { request in built[request.timestamp].map { (request.at - $0).inSeconds * 1000 } }.sorted()
        func percentile(_ share: Double) -> Int { Int(ages[min(ages.count - 1, Int(Double(ages.count) * share))]) }
        print("age of the state at \(ages.count) sends: p50 \(percentile(0.5)) ms, p95 \(percentile(0.95)) ms, p99 \(percentile(0.99)) ms")
    }

    private static func newest(_ updates: [FleetAPNs.Request], of tokens: [Int]) -> Set<Int64> {
        var last: [Int: Int64] = [:]
        for update in updates { last[update.token] = update.timestamp }
        return Set(tokens.map { last[$0] ?? 0 })
    }
}

extension ScaleTests {
    @Test("a large following is started and ended in portions: no statement concerns more of it")
    func portions() async throws {
        try await LiveBench.with { bench in
            let (followers, portion) = (2_000, 50)
            try await bench.followers(followers, of: "m1")
            try await bench.score(runs: 1)
            let store = OrchestratorStore(pool: bench.pool, portion: portion)
            var left = ["m1": ""]
            var created: [Int] = []
            while !left.isEmpty {
                let step = try await store.createMissing(after: left, now: bench.now)
                created.append(step.created)
                left = step.left
            }
            #expect(created == Array(repeating: portion, count: followers / portion) + [0])
            #expect(try await bench.count("SELECT count(DISTINCT userId) FROM liveActivities WHERE status = 'pending'") == followers)
            try await bench.score(phase: "ended", runs: 2)
            let ended: Query = "SELECT count(*) FROM liveActivities WHERE endReason = 'match_end'"
            var before = 0
            while try await store.endOver("m1", now: bench.now) {
                let now = try await bench.count(ended)
                #expect(now - before <= portion)
                before = now
            }
            #expect(try await bench.count(ended) == followers)
            let expiring: [Query] = [
                "SELECT count(*) FROM liveActivities WHERE expiresAt > \(bench.now)",
                "SELECT count(*) FROM follows WHERE expiresAt > \(bench.now)",
            ]
            for query in expiring { #expect(try await bench.count(query) == followers) }
        }
    }

    @Test("the engine goes through a following that is larger than a portion, and ends it, while others start")
    func engineGoesOn() async throws {
        try await LiveBench.with { bench in
            try await bench.followers(9, of: "m1")
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann", "m2")
            for match in ["m1", "m2"] { try await bench.score(match, runs: 1) }
            let stores = LiveStores(pool: bench.pool, portion: 2, cipher: BenchParts.cipher, record: BenchParts.recorder())
            let apns = bench.apns
            let engine = LiveEngine(stores: stores, lookup: { _, _, _ in apns }, logger: .silent, now: { bench.now })
            try await engine.runUntilIdle()
            #expect(try await bench.count("SELECT count(*) FROM activityStarts") == 10)
            try await bench.score("m1", phase: "ended", runs: 2)
            try await engine.runUntilIdle()
            #expect(try await bench.count("SELECT count(*) FROM liveActivities WHERE status = 'ended' AND expiresAt IS NOT NULL") == 9)
            #expect(try await bench.states(match: "m2") == ["pending"])
        }
    }
}
