import HTTPServer
import Logging
import Postgres
import Providers
import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization
import TestDatabase
import Testing

@testable import Delivery

@Suite("Sends are stored together, and leased at once where they can be sent")
struct EnqueueGroupsTests {
    private func request(_ json: String) throws -> EnqueueRequest {
        let now = Timestamp.now()
        let batch = try SendBatch(try JSONParser.parse(Array(json.utf8)), limit: 10_000, now: now)
        return EnqueueRequest(sends: batch.requests, requestId: "r", author: "test", now: now)
    }

    private func send(_ id: String, _ number: Int = 1, members: String = "") -> String {
        #"{"sendId": "\#(id)", "token": "\#(SendingBench.token(number))", "provider": "apns", "app": "a", "title": "t"\#(members)}"#
    }

    private func enqueue(_ enqueueGroups: EnqueueGroups, _ json: String) async throws -> [SendReceipt] {
        try await enqueueGroups.enqueue(try request(json))
    }

    /// With these services running.
    private func running<Value: Sendable>(_ services: [any Service], _ body: () async throws -> Value) async throws -> Value {
        let group = ServiceGroup(configuration: .init(services: services, logger: .silent))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return try result.get()
        }
    }

    private func until(_ condition: () async throws -> Bool) async throws {
        while !(try await condition()) { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// Posts requests of which all but the first wait until the first transaction ends; whether each was stored.
    private func postTogether(_ bench: SendingBench, _ bodies: [String]) async throws -> [Bool] {
        let enqueueGroups = EnqueueGroups(store: bench.store, check: { _, _, _, _ in nil })
        return try await running([enqueueGroups]) {
            // Before, each has a transaction of its own.
            try await until { await enqueueGroups.group.isOpen }
            return try await bench.pool.withConnection { locker in
                try await locker.perform { try $0.executeScript("BEGIN; LOCK TABLE pushSends IN EXCLUSIVE MODE") }
                return try await withThrowingTaskGroup(of: (Int, Bool).self) { posts in
                    for (index, body) in bodies.enumerated() {
                        posts.addTask { (index, (try? await enqueue(enqueueGroups, body)) != nil) }
                        guard index == 0 else { continue }
                        try await until { try await bench.count("pg_locks WHERE NOT granted AND relation = 'pushSends'::regclass") == 1 }
                    }
                    try await until { await enqueueGroups.group.count == bodies.count - 1 }
                    try await locker.perform { try $0.executeScript("COMMIT") }
                    return try await posts.reduce(into: Array(repeating: false, count: bodies.count)) { $0[$1.0] = $1.1 }
                }
            }
        }
    }

    @Test("requests that come while a transaction is under way share the next one", .timeLimit(.minutes(5)))
    func together() async throws {
        try await SendingBench.with { bench in
            let results = try await postTogether(bench, (1...20).map { send("s\($0)") })
            #expect(results.filter { $0 }.count == 20)
            let transactions = try await bench.pool.query("SELECT count(DISTINCT xmin::text), count(*) FROM pushSends")[0]
            #expect(try transactions.decode((Int, Int).self) == (2, 20))
        }
    }

    @Test("a request that the database refuses does not fail those that share its transaction")
    func apart() async throws {
        try await SendingBench.with { bench in
            try await bench.pool.execute("ALTER TABLE pushSends ADD CHECK (sendId <> 'bad')")
            let results = try await postTogether(bench, (0..<10).map { send($0 == 5 ? "bad" : "s\($0)") })
            #expect(results.indices.filter { !results[$0] } == [5])
            #expect(try await bench.count("pushSends") == 9)
        }
    }

    @Test("the same send twice in one transaction is a duplicate of the first, with its deliveries; another content is a conflict")
    func duplicates() async throws {
        try await SendingBench.with { bench in
            let enqueueGroups = EnqueueGroups(store: bench.store, check: { _, _, _, _ in nil })
            let other = #"{"sendId": "s", "token": "\#(SendingBench.token(1))", "provider": "apns", "app": "a", "title": "other"}"#
            let receipts = try await enqueue(enqueueGroups, "[\(send("s")), \(send("s")), \(other)]")
            guard case .accepted(deliveries: 1, _) = receipts[0], case .duplicate(deliveries: 1) = receipts[1], case .conflict = receipts[2]
            else {
                return #expect(Bool(false), "\(receipts)")
            }
            let again = try await enqueue(enqueueGroups, "[\(other), \(send("s"))]")
            guard case .conflict = again[0], case .duplicate(deliveries: 1) = again[1] else { return #expect(Bool(false), "\(again)") }
        }
    }

    /// A dispatcher that runs and has looked at the queue, and what enqueues for it.
    private func dispatching(
        _ bench: SendingBench,
        _ lookup: @escaping ProviderLookup,
        _ change: (inout DispatcherConfiguration) -> Void = { _ in },
        _ body: (EnqueueGroups, SendDispatcher) async throws -> Void
    ) async throws {
        let leases = DirectLeases()
        let wake = WakeSignal()
        var configuration = DispatcherConfiguration(delays: .quick(.zero), worker: "test")
        change(&configuration)
        let dispatcher = SendDispatcher(
            store: bench.store,
            throttles: bench.throttles,
            lookup: lookup,
            configuration: configuration,
            leases: leases,
            wake: wake,
            logger: .silent
        )
        let enqueueGroups = EnqueueGroups(store: bench.store, check: { _, _, _, _ in nil }, leases: leases, wake: wake)
        try await running([dispatcher, enqueueGroups]) {
            try await until { dispatcher.knowledge.withLock(\.isRead) }
            try await body(enqueueGroups, dispatcher)
        }
    }

    @Test("what can be sent at once is never in the queue", .timeLimit(.minutes(5)))
    func direct() async throws {
        try await SendingBench.with { bench in
            try await bench.pool.execute("ALTER TABLE pushReady ADD CHECK (deliveryId < 0)")
            let sender = ScriptedProvider()
            try await dispatching(bench, sender.lookup) { enqueueGroups, _ in
                for number in 1...5 { _ = try await enqueue(enqueueGroups, send("s\(number)", number)) }
                _ = try await enqueue(enqueueGroups, "[\((6...30).map { send("s\($0)", $0) }.joined(separator: ","))]")
                try await until { try await bench.count("pushFinished") == 30 }
            }
            #expect(Set(sender.calls.map(\.sendId)).count == 30 && sender.calls.count == 30)
            #expect(try await bench.count("pushLeases") == 0)
        }
    }

    @Test("no more than the free slots are leased, some are left to critical sends, and the rest waits its turn", .timeLimit(.minutes(5)))
    func slots() async throws {
        try await SendingBench.with { bench in
            let provider = HeldProvider()
            try await dispatching(bench, { _, _, _ in provider }, { $0.capacity = 10 }) { enqueueGroups, dispatcher in
                _ = try await enqueue(enqueueGroups, "[\((1...12).map { send("s\($0)", $0) }.joined(separator: ","))]")
                try await until { provider.held == 8 }
                _ = try await enqueue(enqueueGroups, send("page", 20, members: #", "critical": true"#))
                try await until { provider.held == 9 }
                #expect(try await bench.count("pushLeases") == 9)
                #expect(try await bench.count("pushReady") == 4)
                provider.release()
                try await until { try await bench.count("pushFinished") == 13 }
                #expect(dispatcher.slots.count == 0)
            }
        }
    }

    @Test(
        "behind others, a circuit or a throttle, and for later, nothing is leased at once",
        arguments: ["others", "circuit", "throttle", "later"]
    )
    func waits(behind obstacle: String) async throws {
        try await SendingBench.with { bench in
            let sender = ScriptedProvider()
            try await dispatching(bench, sender.lookup) { enqueueGroups, dispatcher in
                let queue = SendQueue(id: 1, app: "a", provider: .apns, environment: .production, deliveryClass: .normal)
                switch obstacle {
                case "others": dispatcher.note(waiting: [1])
                case "circuit":
                    let scope = CircuitScope(provider: .apns, app: "a", environment: .production, credential: sender.credential)
                    let opening = CircuitOpening(scope: scope, cause: "InvalidProviderToken", probeAfter: .seconds(60))
                    let circuits = try await bench.pool.performTransaction { try CircuitQueries.open([opening], on: $0) }
                    dispatcher.pipeline.gate.replace(circuits: Array(circuits.values), pauses: [], offset: .zero)
                case "throttle":
                    let throttle = SendThrottle(
                        provider: .apns,
                        app: "a",
                        perMinute: 0,
                        reason: "test",
                        author: "test",
                        createdAt: .now(),
                        expiresAt: .now() + .seconds(60)
                    )
                    dispatcher.knowledge.withLock { $0.throttles = [throttle] }
                default:
                    let leases = DirectLeases()
                    leases.open(dispatcher)
                    let later = #", "notBefore": "\#((Timestamp.now() + .seconds(600)).rfc3339)""#
                    let enqueued = try await bench.store.enqueue(
                        [try request(send("later", members: later))],
                        check: { _, _, _, _ in nil },
                        leases: DirectReservation(leases)
                    )
                    return #expect(enqueued.leased.isEmpty && enqueued.waiting.count == 1)
                }
                #expect(dispatcher.reserve(1, of: queue) == 0)
            }
        }
    }
}

/// Answers when it is released.
private final class HeldProvider: PushProvider {
    private let state = Mutex((isReleased: false, waiting: [CheckedContinuation<Void, Never>]()))

    var held: Int { state.withLock { $0.waiting.count } }
    var credential: String { "key-1" }

    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        await withCheckedContinuation { continuation in
            let isReleased = state.withLock { state in
                if !state.isReleased { state.waiting.append(continuation) }
                return state.isReleased
            }
            if isReleased { continuation.resume() }
        }
        return .accepted("m")
    }

    func release() {
        let waiting = state.withLock { state in
            state.isReleased = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
