import Postgres
import Providers
import PushContract
import TestDatabase
import Testing

@testable import Delivery

@Suite("Leases")
struct LeaseTests {
    private func overdue(_ bench: SendingBench) async throws {
        try await bench.pool.execute("UPDATE pushLeases SET leaseUntil = now() + interval '1 second'")
    }

    @Test("a long try's lease is renewed for its holder, and for nobody who lost it")
    func renewal() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            let claimed = try await bench.claim()
            let own = claimed[0].leaseToken
            let other = own + 1
            // Fresh: nothing is written.
            #expect(try await bench.store.renew([own], lease: .seconds(60)) == 0)
            try await overdue(bench)
            #expect(try await bench.store.renew([other], lease: .seconds(60)) == 0)
            #expect(try await bench.store.renew([own], lease: .seconds(60)) == 1)
            #expect(try await bench.count("pushLeases WHERE leaseUntil > now() + interval '50 seconds'") == 1)
            // A try that hangs for ever is given up.
            try await bench.pool.execute("UPDATE pushLeases SET claimedAt = now() - interval '11 minutes', leaseUntil = now()")
            #expect(try await bench.store.renew([own], lease: .seconds(60)) == 0)
            #expect(try await bench.store.reap() == 1)
        }
    }

    /// Claims sends to four people, `s1` to `s4`, in one lease.
    private func claimFour(_ bench: SendingBench) async throws -> [ClaimedDelivery] {
        for number in 1...4 {
            try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number))
            try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "user-\#(number)", "title": "Goal"}"#)
        }
        let claimed = try await bench.claim()
        #expect(claimed.map(\.sendId) == ["s1", "s2", "s3", "s4"])
        #expect(Set(claimed.map(\.leaseToken)).count == 1)
        return claimed
    }

    private func outcome(_ bench: SendingBench, of delivery: ClaimedDelivery, _ answer: PushOutcome) throws -> QueueDeliveries.Outcome {
        bench.outcome(of: delivery, to: try #require(delivery.token), answer)
    }

    @Test("of deliveries that were leased together, only those without an outcome are taken over")
    func takenOver() async throws {
        try await SendingBench.with { bench in
            let claimed = try await claimFour(bench)
            try await bench.outcomes.write([
                try outcome(bench, of: claimed[0], .accepted("m")),
                try outcome(bench, of: claimed[1], .apns(503, "ServiceUnavailable")),
                try outcome(bench, of: claimed[2], .apns(413, "PayloadTooLarge")),
            ])
            var states: [DeliveryState] = []
            for number in 1...4 { states += try await bench.send("s\(number)").deliveries.map(\.state) }
            #expect(states == [.sent, .retrying, .failed, .sending])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
            try await bench.pool.execute("UPDATE pushLeases SET leaseUntil = now()")
            #expect(try await bench.store.reap() == 1)
            #expect(try await bench.count("pushLeases") == 0)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
            #expect(try await bench.status(of: "s4") == [.failed])
            // The late outcome of the last one changes nothing.
            let late = try outcome(bench, of: claimed[3], .accepted("m"))
            #expect(try await bench.outcomes.write([late]).dispositions == [.stale])
        }
    }

    @Test("a dead letter that is put back while its lease lasts for others is not taken over with them")
    func putBack() async throws {
        try await SendingBench.with { bench in
            let claimed = try await claimFour(bench)
            try await bench.outcomes.write([try outcome(bench, of: claimed[0], .apns(413, "PayloadTooLarge"))])
            let filter = try DeadLetterFilter(query: ["sendId": "s1"], now: .now())
            #expect(try await bench.store.retryDeadLetters(filter, lifetime: .seconds(60), recording: .test()) == 1)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
            #expect(try await bench.send("s1").deliveries.map(\.state) == [.queued])
            try await bench.pool.execute("UPDATE pushLeases SET leaseUntil = now()")
            #expect(try await bench.store.reap() == 3)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("what an earlier lease of a delivery has released is no outcome of its next one")
    func nextLease() async throws {
        try await SendingBench.with { bench in
            let first = try await claimFour(bench)
            try await bench.outcomes.write([try outcome(bench, of: first[1], .apns(503, "ServiceUnavailable"))])
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = clock_timestamp() - interval '1 second'")
            #expect(try await bench.store.promote() == 1)
            let next = try await bench.claim()
            #expect(next.map(\.sendId) == ["s2"])
            let both = [try outcome(bench, of: first[0], .accepted("m")), try outcome(bench, of: next[0], .accepted("m"))]
            #expect(try await bench.outcomes.write(both, mayBeWritten: true).dispositions == [.written, .written])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("outcomes that are written again, as the answer to their commit was lost, change nothing")
    func writtenAgain() async throws {
        try await SendingBench.with { bench in
            let claimed = try await claimFour(bench)
            let first = [
                try outcome(bench, of: claimed[0], .accepted("m")), try outcome(bench, of: claimed[1], .apns(503, "ServiceUnavailable")),
            ]
            try await bench.outcomes.write(first)
            let other = try outcome(bench, of: claimed[2], .accepted("m"))
            let again = try await bench.outcomes.write(first + [other], mayBeWritten: true)
            #expect(again.dispositions == [.stale, .stale, .written])
            let last = [try outcome(bench, of: claimed[3], .accepted("m"))]
            let end = OutcomeGroups(leases: [claimed[3].leaseToken])
            #expect(try await bench.outcomes.write(last, ending: end).dispositions == [.written])
            #expect(try await bench.outcomes.write(last, ending: end, mayBeWritten: true).dispositions == [.stale])
            #expect(try await bench.count("pushLeases") == 0)
            #expect(try await bench.count("notificationDeliveryAttempts WHERE sendId IS NOT NULL") == 4)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a lease ends with the last of its deliveries, and runs out when the outcome of one is lost")
    func open() {
        let open = OpenGroups()
        open.answer([(number: 7, size: 2), (number: 8, size: 1)])
        #expect(open.answered == [8])
        open.discard([8])
        open.answer([(number: 7, size: 2), (number: 9, size: 3)])
        #expect(open.answered == [7])
        open.discard([7])
        open.abandon(9)
        open.answer([(number: 9, size: 3), (number: 9, size: 3)])
        #expect(open.answered.isEmpty)
    }
}
