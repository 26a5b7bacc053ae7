import HTTPServer
import Postgres
import Providers
import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization
import TestDatabase
import TestSupport
import Testing

@testable import Delivery

@Suite("Taking in sends")
struct EnqueueServiceTests {
    private func describe(_ receipts: [SendReceipt]) -> [String] {
        receipts.map { receipt in
            switch receipt {
            case .accepted: "accepted"
            case .duplicate(let deliveries, _): "duplicate \(deliveries)"
            case .conflict: "conflict"
            case .refused(let problem): problem.code
            }
        }
    }

    /// Posts all in one transaction, in this order: the first group waits for a lock, and they gather behind it.
    private func submitTogether(
        _ posts: [SendPost],
        to enqueueService: EnqueueService,
        _ bench: SendingBench
    ) async throws -> [Int: [SendReceipt]] {
        try await bench.pool.withTransaction { blocker in
            try await blocker.execute("LOCK TABLE pushSends IN SHARE MODE")
            return try await withThrowingTaskGroup(of: (Int, [SendReceipt]?).self) { tasks in
                tasks.addTask { (-1, try? await enqueueService.submit(try bench.post(#"{"sendId": "first", "uid": "ann"}"#))) }
                try await eventually("the first waits for the lock") {
                    try await !bench.pool.query("SELECT FROM pg_locks WHERE NOT granted AND relation = 'pushSends'::regclass").isEmpty
                }
                for index in posts.indices {
                    tasks.addTask { (index, try? await enqueueService.submit(posts[index])) }
                    try await eventually("it waits behind the first") { enqueueService.waiting == index + 1 }
                }
                try await blocker.execute("COMMIT")
                return try await tasks.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        }
    }

    @Test("requests that come at once share a transaction; each has its own author, refusals and repetitions")
    func groups() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            let enqueueService = bench.enqueueService(lockLimit: nil)
            var limited = try bench.post(#"{"sendId": "c", "uid": "ann"}"#, by: "limited")
            limited.apps = KeyApps(["another.app"])
            let posts =
                try (0..<20).map { try bench.post(#"{"sendId": "s\#($0)", "uid": "ann"}"#, by: "key-\($0)") } + [
                    try bench.post(#"{"sendId": "s3", "uid": "ann"}"#, by: "again"),
                    try bench.post(#"{"sendId": "s4", "uid": "ann", "title": "other"}"#, by: "other"),
                    try bench.post(#"[{"sendId": "a", "uid": "nobody"}, {"sendId": "b", "uid": "ann"}]"#, by: "two"),
                    limited, try bench.post(#"{"sendId": "c", "uid": "ann"}"#, by: "key-c"),
                ]
            try await withServices([enqueueService]) {
                let answers = try await submitTogether(posts, to: enqueueService, bench)
                for index in posts.indices {
                    let expected =
                        switch index {
                        case 20: ["duplicate 1"]
                        case 21: ["conflict"]
                        case 22: ["unknown_uid", "accepted"]
                        case 23: ["app_not_allowed"]
                        default: ["accepted"]
                        }
                    #expect(answers[index].map(describe) == expected, "\(index)")
                }
            }
            let stored = try await bench.pool.query("SELECT sendId, author, requestId, xmin::text FROM pushSends WHERE sendId <> 'first'")
                .map { try $0.decode((String, String, String, String).self) }
            #expect(stored.count == 22)
            #expect(Set(stored.filter { $0.0.hasPrefix("s") || $0.0 == "b" }.map(\.3)).count == 1)
            for (sendId, author, requestId, _) in stored where sendId != "b" {
                #expect(author == "key-\(sendId.replacing("s", with: ""))" && requestId == "request-\(author)")
            }
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("what the database refuses of one caller's fails for that caller alone")
    func oneAtFault() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.refuse("INSERT", on: "pushSends", when: "NEW.sendId = 'bad'")
            let enqueueService = bench.enqueueService(lockLimit: nil)
            let posts = try ["a", "bad", "b"].map { try bench.post(#"{"sendId": "\#($0)", "uid": "ann"}"#) }
            try await withServices([enqueueService]) {
                let answers = try await submitTogether(posts, to: enqueueService, bench)
                #expect(answers.keys.sorted() == [-1, 0, 2])
            }
            #expect(try await bench.count("pushSends") == 3)
        }
    }

    @Test("a send that needs a key which another transaction has locked delays no other, and is stored when the key is free")
    func lockedKey() async throws {
        try await SendingBench.with { bench in
            for name in ["ann", "bob"] { try await bench.register(name, "\(name)-phone", token: SendingBench.token(name == "ann" ? 1 : 2)) }
            try await bench.enqueue(#"{"sendId": "before", "uid": "ann", "collapseId": "score"}"#)
            let enqueueService = bench.enqueueService()
            try await withServices([enqueueService], within: WorkDeadline(.seconds(600))) {
                try await bench.pool.withTransaction { blocker in
                    try await blocker.execute("SELECT FROM pushNewest FOR UPDATE")
                    async let locked = enqueueService.submit(bench.post(#"{"sendId": "locked", "uid": "ann", "collapseId": "score"}"#))
                    try await eventually("it waits for the key") { try await bench.waitingForLocks() == 1 }
                    let others = [
                        #"{"sendId": "plain", "uid": "bob"}"#, #"{"sendId": "critical", "uid": "ann", "class": "critical"}"#,
                        #"{"sendId": "other-key", "uid": "bob", "collapseId": "score"}"#,
                    ]
                    for json in others { #expect(describe(try await enqueueService.submit(try bench.post(json))) == ["accepted"]) }
                    #expect(try await bench.count("pushSends") == 4)
                    try await blocker.execute("COMMIT")
                    #expect(describe(try await locked) == ["accepted"])
                }
            }
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a send whose time is over before the key that it needs is free takes no time from others that wait for keys")
    func lateForKey() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "before", "uid": "ann", "collapseId": "score"}"#)
            let tries = Mutex(0)
            let enqueueService = EnqueueService(
                store: bench.store,
                check: { _, _ in
                    tries.withLock { $0 += 1 }
                    return nil
                },
                wake: WakeSignal(),
                logger: .silent
            )
            let late = try bench.post(#"{"sendId": "late", "uid": "ann", "collapseId": "score"}"#)
            try await withServices([enqueueService]) {
                try await bench.pool.withTransaction { blocker in
                    try await blocker.execute("SELECT FROM pushNewest FOR UPDATE")
                    // Before the service has begun it is refused for its deadline, without a try.
                    try await eventually("it is refused for the lock") {
                        do {
                            _ = try await WorkDeadline.$current.withValue(WorkDeadline(.zero)) { try await enqueueService.submit(late) }
                            return false
                        } catch let error as PostgresError {
                            return error.code == .lockNotAvailable
                        }
                    }
                }
            }
            #expect(tries.withLock { $0 } == 1, "together with others, and not by itself")
        }
    }

    @Test("large requests that wait for a lock leave connections to others, and are stored when it is free")
    func largeRequests() async throws {
        try await SendingBench.with { bench in
            for number in 0..<21 { try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            try await bench.enqueue(#"{"sendId": "before", "uid": "user-0", "collapseId": "score"}"#)
            let enqueueService = bench.enqueueService()
            let connections = bench.pool.configuration.maxConnections
            try await withServices([enqueueService], within: WorkDeadline(.seconds(600))) {
                try await bench.pool.withTransaction { blocker in
                    try await blocker.execute("SELECT FROM pushNewest FOR UPDATE")
                    try await withThrowingTaskGroup(of: [String].self) { tasks in
                        for large in 0..<connections {
                            let items = (0..<21).map { #"{"sendId": "l\#(large)-\#($0)", "uid": "user-\#($0)", "collapseId": "score"}"# }
                            let post = try bench.post("[" + items.joined(separator: ",") + "]")
                            tasks.addTask { describe(try await enqueueService.submit(post)) }
                        }
                        let turns = EnqueueService.turns(connections: connections)
                        try await eventually("as many as may wait for the lock") { try await bench.waitingForLocks() == turns }
                        try await eventually("the others wait for their turns") { enqueueService.waitingForTurns == connections - turns }
                        let small = try await enqueueService.submit(try bench.post(#"{"sendId": "s", "uid": "user-1"}"#))
                        #expect(describe(small) == ["accepted"])
                        try await blocker.execute("COMMIT")
                        for try await receipts in tasks { #expect(receipts == Array(repeating: "accepted", count: 21)) }
                    }
                }
            }
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("writers of attempts, small requests, locked ones, large ones and all else need no more connections than there are")
    func connections() {
        for connections in EnqueueService.leastConnections...200 {
            let turns = EnqueueService.turns(connections: connections)
            #expect(turns >= 1 && 3 + 1 + 1 + turns + 1 <= connections)
        }
    }

    @Test("who finds no turn in time leaves it to those behind, and one that is given back goes to the one that came first")
    func turns() async throws {
        let turns = Turns(1)
        let (began, end) = (WakeSignal(), WakeSignal())
        async let first = turns.run(before: .now + .seconds(600)) {
            began.signal()
            await end.wait(upTo: .seconds(600))
            return 1
        }
        await began.wait(upTo: .seconds(600))
        #expect(await turns.run(before: .now) { 2 } == nil)
        async let third = turns.run(before: .now + .seconds(600)) { 3 }
        try await eventually("it waits") { turns.waiting == 1 }
        end.signal()
        #expect(await first == 1)
        #expect(await third == 3)
        #expect(await turns.run(before: .now) { 4 } == 4)
    }

    @Test(
        "a send for which there is a slot never waits in the queue; one behind a throttle, for later or after a waiting one does"
    )
    func direct() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            let provider = ScriptedProvider()
            let dispatcher = bench.dispatcher(provider.lookup) { $0.sweep = .milliseconds(1) }
            let enqueueService = bench.enqueueService(dispatcher)
            try await withServices([dispatcher, enqueueService]) {
                // Makes the queue.
                _ = try await enqueueService.submit(try bench.post(#"{"sendId": "usual", "uid": "ann"}"#))
                try await eventually("all is sent") { try await bench.count("pushReady") + bench.count("pushLeases") == 0 }
                try await bench.refuse("INSERT", on: "pushReady", when: "true")
                func isStored(_ json: String) async throws -> Bool {
                    let post = try bench.post(json)
                    return try await bench.unlessRefused { try await enqueueService.submit(post) } != nil
                }
                // The dispatcher has to see first that the queue is empty.
                try await eventually("it is stored") { try await isStored(#"{"sendId": "direct", "uid": "ann"}"#) }
                #expect(try await isStored(#"{"sendId": "direct-2", "uid": "ann"}"#))
                let later = Timestamp.now() + .seconds(3600)
                #expect(try await isStored(#"{"sendId": "later", "uid": "ann", "notBefore": "\#(later.rfc3339)"}"#))
                #expect(try await bench.count("pushScheduled") == 1)
                let now = Timestamp.now()
                let throttle = SendThrottle(
                    provider: .apns,
                    app: nil,
                    perMinute: 60_000,
                    reason: "test",
                    author: "test",
                    createdAt: now,
                    expiresAt: now + .seconds(3600)
                )
                try await bench.throttles.set([throttle], recording: .test())
                // The throttle is read within a sweep.
                var number = 0
                while try await isStored(#"{"sendId": "throttled-\#(number)", "uid": "ann"}"#) { number += 1 }
                _ = try await bench.throttles.remove(provider: .apns, app: nil, recording: .test())
                try await eventually("it is stored") { try await isStored(#"{"sendId": "direct-3", "uid": "ann"}"#) }
            }
            for sendId in ["usual", "direct", "direct-2", "direct-3"] {
                #expect(try await bench.status(of: sendId) == [.sent], "\(sendId)")
            }
            #expect(try await bench.count("pushLeases") == 0)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a full process leaves the rest of a request to the queue, and keeps slots for critical sends")
    func slots() async throws {
        try await SendingBench.with { bench in
            for number in 0..<20 { try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            // Makes the queues, and leaves them empty.
            try await bench.enqueue(#"[{"sendId": "n", "uid": "user-0"}, {"sendId": "c", "uid": "user-0", "class": "critical"}]"#)
            try await bench.dispatch(ScriptedProvider())
            let provider = ClosedProvider()
            let dispatcher = bench.dispatcher({ _, _, _ in provider }) { $0.capacity = 10 }
            let enqueueService = bench.enqueueService(dispatcher)
            try await withServices([dispatcher, enqueueService]) {
                // One that is in flight shows that the dispatcher has looked.
                let probe = try await enqueueService.submit(try bench.post(#"{"sendId": "probe", "uid": "user-0", "class": "bulk"}"#))
                try #require(describe(probe) == ["accepted"])
                try await eventually("it is leased") { try await bench.count("pushLeases") > 0 }
                let items = (0..<20).map { #"{"sendId": "s\#($0)", "uid": "user-\#($0)"}"# }.joined(separator: ",")
                _ = try await enqueueService.submit(try bench.post("[\(items)]"))
                _ = try await enqueueService.submit(try bench.post(#"{"sendId": "urgent", "uid": "user-1", "class": "critical"}"#))
                #expect(try await bench.count("pushReady") > 0)
                #expect(try await bench.send("urgent").state == .sending)
                provider.open()
                try await eventually("all is sent") { try await bench.count("pushReady") + bench.count("pushLeases") == 0 }
            }
            #expect(try await bench.pool.query("SELECT count(*) FROM pushFinished WHERE outcome <> 'sent'")[0].decode(Int.self) == 0)
        }
    }

    @Test("a request that is posted faster than its process sends waits for slots, and never goes through the queue")
    func waitsForSlots() async throws {
        try await SendingBench.with { bench in
            for number in 0..<8 { try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            // Makes the queue, and leaves it empty.
            try await bench.enqueue(#"{"sendId": "first", "uid": "user-0"}"#)
            try await bench.dispatch(ScriptedProvider())
            try await bench.refuse("INSERT", on: "pushReady", when: "true")
            let provider = ClosedProvider()
            let dispatcher = bench.dispatcher({ _, _, _ in provider }) {
                $0.capacity = 10
                $0.slotWait = .seconds(600)
            }
            let enqueueService = bench.enqueueService(dispatcher)
            @Sendable func post(_ name: String) async throws -> [String] {
                let items = (0..<8).map { #"{"sendId": "\#(name)\#($0)", "uid": "user-\#($0)"}"# }.joined(separator: ",")
                return describe(try await enqueueService.submit(try bench.post("[\(items)]")))
            }
            try await withServices([dispatcher, enqueueService]) {
                // Until the dispatcher has seen that the queue is empty, there is no way for it.
                try await eventually("they are stored") { try await bench.unlessRefused { try await post("a") } != nil }
                try await withThrowingTaskGroup(of: [String].self) { tasks in
                    for name in ["b", "c"] { tasks.addTask { try await post(name) } }
                    try await eventually("both wait for slots") { dispatcher.slotWaiters.waiting == 2 }
                    #expect(try await bench.count("pushSends") == 9, "what waits is not stored")
                    let critical = #"{"sendId": "urgent", "uid": "user-0", "class": "critical"}"#
                    let refused = try await bench.unlessRefused { try await enqueueService.submit(try bench.post(critical)) } == nil
                    #expect(refused, "it does not wait, and has no queue yet")
                    provider.open()
                    for try await receipts in tasks { #expect(receipts == Array(repeating: "accepted", count: 8)) }
                }
                try await eventually("all is sent") { try await bench.count("pushLeases") == 0 }
            }
            #expect(try await bench.pool.query("SELECT count(*) FROM pushFinished WHERE outcome = 'sent'")[0].decode(Int.self) == 25)
        }
    }

    @Test("a lease whose commit was not answered is given back: it was not begun, so it is sent, once, and recorded once")
    func unknownLease() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "s", "uid": "ann", "policy": "at_most_once"}"#)
            let provider = ScriptedProvider()
            let dispatcher = bench.dispatcher(provider.lookup) { $0.worker = "other" }
            // The worker's own, and it knows nothing of it.
            let claimed = try await bench.claim().map { StartedDelivery($0) }
            dispatcher.enter(claimed)
            dispatcher.abandon(claimed)
            try await dispatcher.runUntilIdle()
            #expect(try await bench.count("pushLeases") == 1, "it may be of a transaction under way")
            try await bench.pool.execute("UPDATE pushLeases SET claimedAt = claimedAt - interval '31 seconds'")
            try await dispatcher.runUntilIdle()
            #expect(try await bench.status(of: "s") == [.sent])
            #expect(provider.calls.count == 1)
        }
    }

    @Test(
        "a process that starts again with the same host name and process id is another worker: it gives back none of the dead one's leases"
    )
    func workers() {
        #expect(DispatcherConfiguration().worker != DispatcherConfiguration().worker)
    }

    @Test("a lease of an attempt that was made is not given back")
    func knownLease() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "s", "uid": "ann"}"#)
            let claimed = try await bench.claim()
            try await bench.pool.execute("UPDATE pushLeases SET claimedAt = claimedAt - interval '31 seconds'")
            let known = Set(claimed.map(\.leaseToken))
            #expect(try await bench.store.giveBack(of: "other", except: known) == 0)
            #expect(try await bench.store.giveBack(of: "another", except: []) == 0)
            #expect(try await bench.store.giveBack(of: "other", except: []) == 1)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }
}

extension SendingBench {
    /// Makes the database refuse some rows.
    func refuse(_ event: String, on table: String, when condition: String) async throws {
        try await pool.execute(
            """
            CREATE FUNCTION refuse\(raw: table)() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF \(raw: condition) THEN RAISE EXCEPTION 'refused'; END IF;
                RETURN coalesce(NEW, OLD);
            END $$
            """
        )
        try await pool.execute(
            "CREATE TRIGGER refuse BEFORE \(raw: event) ON \(raw: table) FOR EACH ROW EXECUTE FUNCTION refuse\(raw: table)()"
        )
    }

    /// Nil: a row that `refuse` names was refused.
    func unlessRefused<Answer>(_ body: () async throws -> Answer) async throws -> Answer? {
        do { return try await body() } catch let error as PostgresError where error.code.rawValue == "P0001" { return nil }
    }
}
