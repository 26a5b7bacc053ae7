import HTTPServer
import Postgres
import Providers
import PushContract
import ServiceKit
import TestDatabase
import TestSupport
import Testing

@testable import Delivery

@Suite("The queue")
struct QueueTests {
    private let token = SendingBench.token(1)

    @Test("the same sendId with the same content is stored once; with other content it is a conflict")
    func idempotency() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let first = #"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#
            try await bench.enqueue(first)
            // Order and white space of the JSON are not content.
            let again = try await bench.enqueue(#"{"title":"Goal","uid":"ann","sendId":"s1"}"#)
            guard case .duplicate(deliveries: 1, _) = again[0] else { return #expect(Bool(false), "\(again)") }
            let other = try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Own goal"}"#)
            guard case .conflict = other[0] else { return #expect(Bool(false), "\(other)") }
            #expect(try await bench.count("pushDeliveries") == 1)
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.count == 1)
        }
    }

    @Test("one sendId sent from eight connections at once is stored once")
    func concurrentIdempotency() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let receipts = try await withThrowingTaskGroup(of: [SendReceipt].self) { group in
                for _ in 0..<8 { group.addTask { try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let accepted = receipts.filter { if case .accepted = $0 { true } else { false } }
            #expect(accepted.count == 1)
            #expect(try await bench.count("pushReady") == 1)
        }
    }

    @Test("an outcome whose lease was taken over changes nothing")
    func staleOutcome() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            let slow = try await bench.claim(lease: .zero)
            #expect(try await bench.store.reap() == 1)
            let quick = try await bench.claim()
            #expect(quick.map(\.attemptNumber) == [2])

            let push = try #require(slow[0].token)
            let late = bench.outcome(of: slow[0], to: push, .apns(410, "Unregistered", goneAt: .now()))
            #expect(try await bench.outcomes.write([late]).dispositions == [.stale])
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: .now())?.tokenState == .active)
            #expect(try await bench.send("s1").state == .sending)

            let accepted = bench.outcome(of: quick[0], to: push, .accepted("m"))
            #expect(try await bench.outcomes.write([accepted]).dispositions == [.written])
            let send = try await bench.send("s1")
            #expect(send.state == .sent)
            // The abandoned try has its row, with its outcome unknown; then the one that counted.
            #expect(send.attempts.map(\.providerErrorCode) == ["OutcomeUnknown", nil])
            #expect(send.attempts.map(\.status) == [.failed, .sent])
        }
    }

    @Test("what a dead worker had leased is sent again by at_least_once, and recorded as unknown by at_most_once")
    func reaping() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(
                #"[{"sendId": "s1", "uid": "ann", "title": "Goal"}, {"sendId": "s2", "uid": "ann", "title": "Goal", "policy": "at_most_once"}]"#
            )
            // The process dies between claim and completion.
            #expect(try await bench.claim(lease: .zero).count == 2)
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)

            #expect(sender.calls.map(\.sendId) == ["s1"])
            #expect(try await bench.send("s1").state == .sent)
            let once = try await bench.send("s2")
            #expect(once.state == .failed)
            #expect(once.attempts.map(\.reasonCode) == [.network])
            #expect(once.attempts.map(\.providerErrorCode) == ["OutcomeUnknown"])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a lease that has not run out is left alone")
    func livingLease() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            #expect(try await bench.claim().count == 1)
            #expect(try await bench.store.reap() == 0)
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.isEmpty)
        }
    }

    @Test("workers that claim at once never get the same delivery")
    func concurrentClaims() async throws {
        try await SendingBench.with { bench in
            let sends = (1...200).map {
                #"{"sendId": "s\#($0)", "token": "\#(SendingBench.token($0))", "provider": "apns", "app": "a", "title": "t"}"#
            }
            try await bench.enqueue("[" + sends.joined(separator: ",") + "]")
            let claimed = try await withThrowingTaskGroup(of: [ClaimedDelivery].self) { group in
                for _ in 0..<6 { group.addTask { try await bench.claim(50) } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(claimed.map(\.deliveryId)).count == claimed.count)
            #expect(try await bench.count("pushLeasedDeliveries") == claimed.count)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a cancelled send is not sent, whether it was ready or scheduled")
    func cancelling() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let later = (Timestamp.now() + .seconds(3600)).rfc3339
            try await bench.enqueue(
                #"[{"sendId": "s1", "uid": "ann", "title": "a"}, {"sendId": "s2", "uid": "ann", "title": "b", "notBefore": "\#(later)"}]"#
            )
            #expect(try await bench.send("s2").state == .scheduled)
            #expect(try await bench.store.cancel("s1", author: "test") == 0)
            #expect(try await bench.store.cancel("s2", author: "test") == 1)
            #expect(try await bench.store.cancel("none", author: "test") == nil)
            #expect(try await bench.send("s1").state == .cancelled)
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.isEmpty)
            #expect(try await bench.send("s1").state == .cancelled)
            #expect(try await bench.send("s2").state == .cancelled)
            #expect(try await bench.count("pushFinished") == 2)
        }
    }

    @Test("a large send is cancelled at once, whatever becomes of its scheduled deliveries; they end in portions, each once")
    func cancellingMany() async throws {
        try await SendingBench.with { bench in
            for number in 1...35 { try await bench.register("u\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            let uids = (1...35).map { "\"u\($0)\"" }.joined(separator: ",")
            let later = (Timestamp.now() + .seconds(3600)).rfc3339
            try await bench.enqueue(#"{"sendId": "s1", "uids": [\#(uids)], "title": "t", "notBefore": "\#(later)"}"#)
            // The second portion fails.
            try await bench.refuse("INSERT", on: "pushFinishedSingles", when: "(SELECT count(*) FROM pushFinished) = 10")
            await #expect(throws: PostgresError.self) { try await bench.store.cancel("s1", author: "test", portion: 10) }
            #expect(try await bench.send("s1").counts == [.cancelled: 35])
            #expect(try await bench.count("pushScheduled") == 25)
            try await bench.pool.execute("DROP FUNCTION refusepushFinishedSingles CASCADE")
            // A request with little time ends one portion.
            let stopped = try await WorkDeadline.$current.withValue(WorkDeadline(.seconds(5))) {
                try await bench.store.cancel("s1", author: "test", portion: 10)
            }
            #expect(stopped == 10)
            #expect(try await bench.count("pushScheduled") == 15)

            // What becomes due meanwhile ends when it is claimed.
            try await bench.pool.execute(
                """
                UPDATE pushScheduled SET runAt = clock_timestamp() - interval '1 second'
                WHERE deliveryId = (SELECT max(deliveryId) FROM pushScheduled)
                """
            )
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.isEmpty)
            #expect(try await bench.count("pushScheduled") == 14)
            try await withServices([QueueMaintenance(store: bench.store, logger: .silent)]) {
                try await eventually("all have ended") { try await bench.count("pushFinished") == 35 }
            }
            let page = try await OutcomeStream(pool: bench.pool).page(after: .start, .init(events: ["cancelled"]), limit: 100)
            #expect(page.outcomes.count == 35 && Set(page.outcomes.compactMap { $0["uid"]?.string }).count == 35)
            #expect(try await bench.deliveriesOutOfPlace() == 0)

            // One that was with the provider, and waits for its next attempt.
            try await bench.pool.execute(
                """
                WITH retried AS (
                    DELETE FROM pushFinishedSingles WHERE deliveryId = (SELECT min(deliveryId) FROM pushFinishedSingles) RETURNING deliveryId, queue
                )
                INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber, reasonCode)
                SELECT deliveryId, queue, clock_timestamp() + interval '1 hour', 2, 'network' FROM retried
                """
            )
            #expect(try await bench.store.cancel("s1", author: "test") == 1)
            #expect(try await bench.store.cancel("s1", author: "test") == 0)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("cancelled sends whose scheduled deliveries cannot be ended, however many and old, keep no other from ending")
    func cancelledInTurns() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let later = (Timestamp.now() + .seconds(3600)).rfc3339
            try await bench.refuse("INSERT", on: "pushFinishedSingles", when: "true")
            for number in 1...4 {
                try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "ann", "title": "t", "notBefore": "\#(later)"}"#)
                await #expect(throws: PostgresError.self) { try await bench.store.cancel("s\(number)", author: "test") }
            }
            #expect(try await bench.count("pushScheduled") == 4)
            try await bench.pool.execute("DROP FUNCTION refusepushFinishedSingles CASCADE")
            let older = "(SELECT sendId FROM pushDeliveries d WHERE d.deliveryId = NEW.deliveryId) <> 's4'"
            try await bench.refuse("INSERT", on: "pushFinishedSingles", when: older)
            try await withServices([QueueMaintenance(store: bench.store, interval: .milliseconds(1), logger: .silent)]) {
                try await eventually("the newest has ended") { try await bench.count("pushFinished") == 1 }
            }
            #expect(try await bench.count("pushScheduled") == 3)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("what is not due waits, and goes when it is")
    func notBefore() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let later = (Timestamp.now() + .seconds(3600)).rfc3339
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "a", "notBefore": "\#(later)"}"#)
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.isEmpty)
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = clock_timestamp() - interval '1 second'")
            try await bench.dispatch(sender)
            #expect(sender.calls.count == 1)
        }
    }

    @Test("the backlog counts each state by queue")
    func backlog() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(
                #"[{"uid": "ann", "title": "a"}, {"uid": "ann", "title": "b"}, {"uid": "ann", "title": "c", "critical": true}]"#
            )
            let backlog = try await bench.store.backlog()
            #expect(backlog.ready == 3)
            #expect(backlog.oldestReadyAt != nil)
            #expect(backlog.queues.first { $0.queue.isCritical }?.ready == 1)
            #expect(backlog.queued == 3 && backlog.retrying == 0)
            try await bench.dispatch(ScriptedProvider())
            let after = try await bench.store.backlog()
            #expect(after.ready == 0)
            #expect(Drain.all(of: after.queues, now: after.at).trend == .empty)
            #expect(after.queues.map(\.ended).reduce(0, +) == 3)
        }
    }

    @Test("a send whose queue cannot be made is an error, and is not stored")
    func noQueue() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.pool.execute("CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
            try await bench.pool.execute("CREATE TRIGGER skip BEFORE INSERT ON pushQueues FOR EACH ROW EXECUTE FUNCTION skip()")
            await #expect(throws: SendQueueRegistry.NoQueue.self) { try await bench.enqueue(#"{"sendId": "s", "uid": "ann"}"#) }
            #expect(try await bench.count("pushSends") == 0)
        }
    }

    private func age(_ bench: SendingBench, _ condition: String = "") async throws {
        try await bench.pool.execute(
            """
            UPDATE pushSends SET createdAt = createdAt - interval '60 days', expiresAt = expiresAt - interval '60 days' \(raw: condition)
            """
        )
    }

    @Test("old sends are removed with all that belongs to them; others stay")
    func forgetting() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"[{"sendId": "old", "uid": "ann"}, {"sendId": "new", "uid": "ann"}]"#)
            try await bench.dispatch(ScriptedProvider())
            try await age(bench, "WHERE sendId = 'old'")
            #expect(try await !bench.store.forget(olderThan: .seconds(45 * 86_400)))
            #expect(try await bench.store.send("old") == nil)
            #expect(try await bench.send("new").state == .sent)
            #expect(try await bench.count("pushFinished") == 1)
        }
    }

    @Test("an old send to many is removed in portions, and goes with the last of them")
    func forgettingMany() async throws {
        try await SendingBench.with { bench in
            for number in 1...5 { try await bench.register("u\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            try await bench.enqueue(#"{"sendId": "old", "uids": ["u1", "u2", "u3", "u4", "u5"]}"#)
            try await bench.dispatch(ScriptedProvider())
            try await age(bench)
            for left in [3, 1] {
                #expect(try await bench.store.forget(olderThan: .seconds(45 * 86_400), limit: 2))
                for table in ["pushDeliveries", "pushFinished"] { #expect(try await bench.count(table) == left, "\(table)") }
                #expect(try await bench.count("pushSends") == 1)
            }
            #expect(try await !bench.store.forget(olderThan: .seconds(45 * 86_400), limit: 2))
            #expect(try await bench.count("pushDeliveries") + bench.count("pushFinished") + bench.count("pushSends") == 0)
        }
    }

    @Test("what is old is removed, whatever becomes of other kinds of it")
    func forgettingGoesOn() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "old", "uid": "ann"}"#)
            try await age(bench)
            try await bench.pool.execute("UPDATE pushOutcomes SET writtenAt = writtenAt - interval '60 days'")
            try await bench.refuse("DELETE", on: "pushDeliveries", when: "true")
            try await withServices([QueueMaintenance(store: bench.store, logger: .silent)]) {
                try await eventually("outcomes are removed") { try await bench.count("pushOutcomes") == 0 }
            }
            #expect(try await bench.count("pushSends") == 1)
        }
    }

    @Test("a count that fails stops no removal")
    func countingFails() async throws {
        try await SendingBench.with { bench in
            try await bench.refuse("INSERT", on: "pushQueueSamples", when: "true")
            try await bench.register("ann", "phone", token: token)
            let maintenance = QueueMaintenance(store: bench.store, interval: .milliseconds(1), logger: .silent)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann"}"#)
            try await age(bench)
            try await withServices([maintenance]) {
                try await eventually("the send is removed") { try await bench.count("pushSends") == 0 }
                try await bench.enqueue(#"{"sendId": "s2", "uid": "ann"}"#)
                try await age(bench)
                // 120 turns later.
                try await eventually("the next one is removed") { try await bench.count("pushSends") == 0 }
            }
            #expect(try await bench.count("pushQueueSamples") == 0)
        }
    }

    @Test(
        "a count takes a twentieth of the time; the one after a count that failed is not more than a minute away",
        arguments: [(0, true, 0), (1, true, 20), (600, true, 12_000), (1, false, 20), (3, false, 60), (4, false, 60), (600, false, 60)]
    )
    func countPause(_ seconds: Int, _ isComplete: Bool, _ expected: Int) {
        #expect(QueueMaintenance.pause(after: .seconds(seconds), isComplete: isComplete) == .seconds(expected))
    }
}

@Suite("Writing outcomes")
struct CompletionTests {
    @Test("outcomes wait for those who lock what they need, longer than a statement may: nothing is sent again")
    func locked() async throws {
        try await SendingBench.with { bench in
            for number in 1...2 {
                try await bench.register("u\(number)", "phone-\(number)", token: SendingBench.token(number))
                try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "u\#(number)"}"#)
            }
            var configuration = bench.pool.configuration
            configuration.statementTimeout = .seconds(1)
            let pool = PostgresPool(configuration: configuration, logger: .silent)
            defer { pool.close() }
            let store = SendStore(pool: pool, cipher: bench.cipher, record: AttemptRecording.recorder(slot: 9, logger: .silent))
            let provider = ScriptedProvider()
            let dispatcher = SendDispatcher(
                store: store,
                throttles: bench.throttles,
                lookup: provider.lookup,
                configuration: DispatcherConfiguration(delays: .quick(.zero), worker: "test"),
                logger: .silent
            )
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                let (locked, isLocked) = AsyncStream.makeStream(of: Void.self)
                tasks.addTask {
                    try await bench.pool.withTransaction { transaction in
                        try await transaction.execute("LOCK TABLE pushFinishedSingles IN EXCLUSIVE MODE")
                        isLocked.yield()
                        // Until a statement of theirs has waited for it longer than it may, and the next one waits.
                        for _ in 0..<2 {
                            try await eventually("an outcome waits") { try await bench.waitingForLocks() > 0 }
                            try await eventually("it was cancelled") { try await bench.waitingForLocks() == 0 }
                        }
                    }
                }
                for await _ in locked { break }
                try await dispatcher.runUntilIdle()
                try await tasks.waitForAll()
            }
            try await bench.pool.execute("UPDATE pushLeases SET leaseUntil = now()")
            try await bench.dispatch(provider)
            #expect(provider.calls.count == 2)
            for number in 1...2 { #expect(try await bench.status(of: "s\(number)") == [.sent]) }
            #expect(try await bench.count("pushLeases") == 0)
        }
    }

    @Test("outcomes that come at once are all written, and one that cannot be written does not hold up the others")
    func poison() async throws {
        try await SendingBench.with { bench in
            let sends = (1...40).map {
                #"{"sendId": "s\#($0)", "token": "\#(SendingBench.token($0))", "provider": "apns", "app": "a", "title": "t"}"#
            }
            try await bench.enqueue("[" + sends.joined(separator: ",") + "]")
            // No row may say so: the insert of this one fails.
            try await bench.pool.execute("ALTER TABLE pushFinishedSingles ADD CHECK (providerMessageId IS DISTINCT FROM 'poison')")
            try await bench.pool.execute("ALTER TABLE pushOutcomes ADD CHECK ('poison' <> ALL (sentMessageIds))")
            let poisoned = PushOutcome.accepted("poison")
            try await bench.dispatch(ScriptedProvider([SendingBench.token(7): [poisoned]]))
            #expect(try await bench.count("pushFinished") == 39)
            #expect(try await bench.count("pushLeases") == 1)
            #expect(try await bench.count("notificationDeliveryAttempts") == 39)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }
}
