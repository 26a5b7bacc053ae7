import Postgres
import PushContract
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
            let own = LeaseKey(deliveryId: claimed[0].deliveryId, leaseToken: claimed[0].leaseToken)
            let other = LeaseKey(deliveryId: claimed[0].deliveryId, leaseToken: claimed[0].leaseToken + 1)
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

    @Test("a delivery whose claim was never answered is returned without an attempt; what was begun, and what others hold, is not")
    func returned() async throws {
        try await SendingBench.with { bench in
            for number in 1...3 {
                try await bench.register("ann", "phone", token: SendingBench.token(1))
                try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "ann", "title": "Goal", "policy": "at_most_once"}"#)
            }
            let claimed = try await bench.claim()
            let begun = LeaseKey(deliveryId: claimed[0].deliveryId, leaseToken: claimed[0].leaseToken)
            #expect(try await bench.store.returnUnknown(of: "other", except: [begun], olderThan: .seconds(30)) == 0, "perhaps under way")
            try await bench.pool.execute("UPDATE pushLeases SET claimedAt = now() - interval '31 seconds'")
            try await bench.pool.execute("UPDATE pushLeases SET worker = 'third' WHERE deliveryId = \(claimed[1].deliveryId)")
            #expect(try await bench.store.returnUnknown(of: "other", except: [begun], olderThan: .seconds(30)) == 1)
            #expect(try await bench.count("pushReady r WHERE r.attemptNumber = 1 AND r.deliveryId = \(claimed[2].deliveryId)") == 1)
            #expect(try await bench.count("pushLeases") == 2)
            #expect(try await bench.count("notificationDeliveryAttempts WHERE eventType = 'send'") == 0)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("an attempt whose outcome could not be written counts as begun until its lease is over")
    func lost() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            let delivery = try await bench.claim()[0]
            let slots = SendSlots(capacity: 10)
            slots.enter(delivery, .init(provider: .apns, environment: .production, name: "k"), now: .now)
            _ = slots.leave(delivery, isLost: true)
            #expect(slots.count == 0)
            #expect(slots.started(lostAfter: .now - .seconds(120)).map(\.deliveryId) == [delivery.deliveryId])
            #expect(slots.started(lostAfter: .now + .seconds(1)).isEmpty)
        }
    }
}
