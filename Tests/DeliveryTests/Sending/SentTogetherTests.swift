import Attempts
import Postgres
import Providers
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Delivery

@Suite("Deliveries that are sent together")
struct SentTogetherTests {
    private func sent(_ ids: some Sequence<Int64>) -> [SentDelivery] {
        ids.map { SentDelivery(deliveryId: $0, queue: 1, attemptId: [], messageId: .other(nil)) }
    }

    @Test("neighbours are in one group, in the order of their ids, and those without enough neighbours in none")
    func groups() {
        func groups(_ ids: [Int64]) -> [[Int64]] { SentTogether.groups(of: sent(ids)).map { $0.deliveries.map(\.deliveryId) } }
        #expect(groups(Array(1...7)).isEmpty)
        #expect(groups((1...8).reversed()) == [Array(1...8)])
        #expect(groups(Array(1...8) + [16_384]) == [Array(1...8) + [16_384]])
        #expect(groups(Array(1...8) + [16_385]) == [Array(1...8)])
        #expect(groups(Array(1...7) + Array(90_001...90_008) + [5_000_000]) == [Array(90_001...90_008)])
        #expect(groups(Array(1...300)) == [Array(1...250), Array(251...300)])
    }

    /// Sends to ten people in one lease, of which the first eight are sent together, the ninth is to be retried, and the tenth is rejected.
    private func sendTen(_ bench: SendingBench) async throws {
        let uids = (1...10).map { "\"u\($0)\"" }.joined(separator: ", ")
        for number in 1...10 { try await bench.register("u\(number)", "phone-\(number)", token: SendingBench.token(number)) }
        try await bench.enqueue(#"{"sendId": "s1", "uids": [\#(uids)], "title": "Goal"}"#)
        let claimed = try await bench.claim()
        #expect(claimed.count == 10)
        let answers: [PushOutcome] =
            (1...8).map { .accepted("message-\($0)") } + [.apns(503, "ServiceUnavailable"), .apns(413, "PayloadTooLarge")]
        let outcomes = try zip(claimed, answers).map { delivery, answer in
            bench.outcome(of: delivery, to: try #require(delivery.token), answer)
        }
        let end = OutcomeGroups(leases: [claimed[0].leaseToken])
        #expect(try await bench.outcomes.write(outcomes, ending: end).dispositions.allSatisfy { $0 == .written })
        #expect(try await bench.pool.query("SELECT sent FROM pushOutcomes WHERE sent IS NOT NULL")[0].decode([Int64].self).count == 8)
        #expect(try await bench.count("pushFinishedSingles") == 0)
        #expect(try await bench.deliveriesOutOfPlace() == 0)
    }

    @Test("each says that it was sent, when, and by which attempt, alone and in the counts of a page")
    func read() async throws {
        try await SendingBench.with { bench in
            let start = Timestamp.now()
            try await sendTen(bench)
            let send = try await bench.send("s1")
            #expect(send.counts == [.sent: 8, .retrying: 1, .failed: 1])
            #expect(send.attemptCount == 10)
            let sent = send.deliveries.filter { $0.state == .sent }
            #expect(sent.map(\.providerMessageId) == (1...8).map { "message-\($0)" })
            #expect(sent.allSatisfy { $0.attempts == 1 && $0.finishedAt.map { $0 >= start - .seconds(1) } == true })
            let page = try #require(try await bench.store.send("s1", limit: 3))
            #expect(page.deliveries.count == 3)
            #expect(page.counts == send.counts)
            #expect(page.attemptCount == 10)
            let states = try await bench.pool.query(
                "SELECT state, attempts, finishedAt IS NOT NULL FROM pushDeliveryStates ORDER BY deliveryId"
            ).map { try $0.decode((String, Int32, Bool).self) }
            #expect(states.map(\.0) == Array(repeating: "sent", count: 8) + ["scheduled", "failed"])
            #expect(states.allSatisfy { $0.1 == 1 } && states.map(\.2) == Array(repeating: true, count: 8) + [false, true])
            let finished = try await bench.pool.query(
                "SELECT count(DISTINCT deliveryId) FROM pushFinished WHERE outcome = 'sent' AND attempts = 1"
            )
            #expect(try finished[0].decode(Int.self) == 8)
            #expect(try await bench.store.backlog().queues.reduce(0) { $0 + $1.ended } == 9)
        }
    }

    @Test("their events are in the stream with the others of their transaction, each once, from whatever cursor it is read")
    func events() async throws {
        try await SendingBench.with { bench in
            try await sendTen(bench)
            let stream = OutcomeStream(pool: bench.pool)
            let all = try await stream.page(after: .start, limit: 100).outcomes
            #expect(
                all.compactMap { $0["event"]?.string }.sorted() == ["accepted", "attemptFailed", "failed"]
                    + Array(repeating: "sent", count: 8)
            )
            let sent = all.filter { $0["event"]?.string == "sent" }
            #expect(sent.map { $0["providerMessageId"]?.string } == (1...8).map { "message-\($0)" })
            let attempts = try await bench.pool.query(
                "SELECT uid, attemptId FROM notificationDeliveryAttempts WHERE eventType = 'send' AND status = 'sent' ORDER BY providerMessageId"
            ).map { try $0.decode((String, String).self) }
            #expect(sent.map { $0["uid"]?.string } == attempts.map(\.0))
            #expect(sent.map { $0["attemptId"]?.string } == attempts.map(\.1))
            var one: [JSONValue] = []
            var cursor = OutcomeCursor.start
            while true {
                let page = try await stream.page(after: cursor, limit: 1)
                guard !page.outcomes.isEmpty else { break }
                one += page.outcomes
                cursor = page.next
            }
            #expect(one == all)
        }
    }

    @Test("the apns-id that a push was given is read as if it were stored; another one and none, as they are")
    func messageIds() async throws {
        try await SendingBench.with { bench in
            let users = 1...6
            for number in users { try await bench.register("u\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            let devices = users.map { #"{"sendId": "s\#($0)", "deviceId": "phone-\#($0)", "title": "Goal"}"# }
            let tokens = (7...10).map {
                #"{"sendId": "s\#($0)", "token": "\#(SendingBench.token($0))", "provider": "apns", "app": "a", "title": "Goal"}"#
            }
            try await bench.enqueue("[" + (devices + tokens).joined(separator: ", ") + "]")
            let claimed = try await bench.claim().sorted { $0.deliveryId < $1.deliveryId }
            let pushes = try claimed.map { $0.push(to: try #require($0.token)) }
            var expected = pushes.map { Optional(APNsMessageId.derive(from: $0.messageId)) }
            expected[1] = "another"
            expected[2] = nil
            let outcomes = try zip(claimed, expected).enumerated().map { index, sent in
                var answer = PushOutcome.accepted(sent.1)
                answer.hasDerivedMessageId = index != 1 && index != 2
                return bench.outcome(of: sent.0, to: try #require(sent.0.token), answer)
            }
            _ = try await bench.outcomes.write(outcomes, ending: OutcomeGroups(leases: [claimed[0].leaseToken]))
            let stored = try await bench.pool.query(
                "SELECT id FROM pushOutcomes, unnest(sentMessageIds) WITH ORDINALITY AS t (id, place) WHERE sent IS NOT NULL ORDER BY place"
            ).map { try $0.decode(String?.self) }
            #expect(stored == [nil, "another", ""] + Array(repeating: nil, count: 7))
            var read: [String?] = []
            for delivery in claimed { read.append(try await bench.send(delivery.sendId ?? "").deliveries[0].providerMessageId) }
            #expect(read == expected)
            let events = try await OutcomeStream(pool: bench.pool).page(after: .start, limit: 100).outcomes
            #expect(events.filter { $0["event"]?.string == "sent" }.map { $0["providerMessageId"]?.string } == expected)
        }
    }

    @Test("a delivery that was sent before its send was cancelled stays sent, and so does one whose outcome is forgotten")
    func cancelledAndForgotten() async throws {
        try await SendingBench.with { bench in
            try await sendTen(bench)
            _ = try await bench.store.cancel("s1", author: "test")
            let counts: [DeliveryState: Int] = [.sent: 8, .cancelled: 1, .failed: 1]
            #expect(try await bench.send("s1").counts == counts)
            #expect(try await #require(bench.store.send("s1", limit: 3)).counts == counts)
            // A send whose dead letters are retried may outlive the outcomes of its time.
            try await bench.pool.execute("DELETE FROM pushOutcomes")
            try await bench.pool.execute("UPDATE pushDeliveries SET createdAt = createdAt - interval '31 days'")
            let forgotten = try await bench.send("s1")
            #expect(forgotten.counts == counts && forgotten.attemptCount == 10)
            #expect(try await #require(bench.store.send("s1", limit: 3)).attemptCount == 10)
            let sent = try await bench.pool.query("SELECT count(*) FROM pushDeliveryStates WHERE state = 'sent' AND finishedAt IS NULL")
            #expect(try sent[0].decode(Int.self) == 8)
        }
    }

    @Test("a delivery whose lease has run out is queued, not sent")
    func leaseRunsOut() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.register("bob", "tablet", token: SendingBench.token(2))
            try await bench.enqueue(#"{"sendId": "s1", "uids": ["ann", "bob"], "title": "Goal"}"#)
            #expect(try await bench.claim().count == 2)
            // Since no sender is running.
            try await bench.pool.execute("UPDATE pushLeases SET leaseUntil = now() - interval '1 day'")
            #expect(try await bench.send("s1").counts == [.queued: 2])
            #expect(try await #require(bench.store.send("s1", limit: 1)).counts == [.queued: 2])
            #expect(try await bench.count("pushDeliveryStates WHERE state = 'ready'") == 2)
        }
    }

    @Test("they go with the user who is erased and with the send that is forgotten, and a missing or doubled one is found")
    func removed() async throws {
        try await SendingBench.with { bench in
            func faults() async throws -> [String: Int] {
                let lines = try await Fsck([QueueCheck()], pool: bench.pool, pause: .zero, now: .now()).run().lines
                return Dictionary(uniqueKeysWithValues: lines.map { ($0.check, $0.faultCount) }).filter { $0.value > 0 }
            }
            try await sendTen(bench)
            #expect(try await faults().isEmpty)
            let uids = try await bench.send("s1").deliveries.filter { $0.state == .sent }.map(\.uid)
            try await bench.pool.performTransaction { try SendErasure.erase(uids[2], on: $0) }
            #expect(try await bench.count("pushDeliveries") == 9)
            #expect(try await faults().isEmpty)
            try await bench.pool.execute("UPDATE notificationDeliveryAttempts SET sendId = 'other' WHERE uid = \(uids[3])")
            #expect(try await faults() == ["sendAttempts": 1])
            try await bench.pool.execute("UPDATE pushOutcomes SET sent[2] = 0 WHERE sent IS NOT NULL")
            #expect(try await faults()["deliveryTables"] == 1, "it is in no place")
            try await bench.pool.execute(
                """
                INSERT INTO pushFinishedSingles (deliveryId, queue, outcome, attempts, finishedAt)
                SELECT sent[1], 1, 'sent', 1, now() FROM pushOutcomes WHERE sent IS NOT NULL
                """
            )
            #expect(try await faults()["deliveryTables"] == 2, "another is in two")
            try await bench.pool.execute(
                """
                UPDATE pushSends SET createdAt = createdAt - interval '60 days', expiresAt = expiresAt - interval '60 days'
                """
            )
            #expect(try await !bench.store.forget(olderThan: .seconds(45 * 86_400)))
            #expect(try await bench.count("pushDeliveries") + bench.count("pushFinishedSingles") + bench.count("pushScheduled") == 0)
            #expect(try await faults().isEmpty)
        }
    }

    @Test("those of a user who is erased are found by the user, however many deliveries there are and while some are leased")
    func erasurePlan() async throws {
        try await SendingBench.with { bench in
            try await bench.fill(20_000)
            #expect(try await !bench.claim().isEmpty)
            try await bench.pool.execute("ANALYZE pushDeliveries, pushLeases, pushReady")
            let lines = try await bench.pool.performTransaction { connection in
                // As in the sessions that erase.
                try connection.execute("SET LOCAL enable_seqscan = off")
                return try connection.query("EXPLAIN (COSTS OFF) \(SendErasure.sentTogether("ann"))").map { try $0.decode(String.self) }
            }
            let plan = lines.joined(separator: "\n")
            #expect(plan.contains("pushdeliveries_uid"), "\(plan)")
        }
    }
}
