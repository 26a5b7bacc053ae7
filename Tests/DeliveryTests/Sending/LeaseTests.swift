import Delivery
import Postgres
import PushContract
import Testing

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
}
