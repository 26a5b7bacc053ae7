import PushContract
import Testing

@testable import Delivery

@Suite("Slots of attempts under way")
struct SendSlotsTests {
    private static let credential = SendSlots.Credential(provider: .apns, environment: .production, name: "key")

    private func claimed(_ bench: SendingBench) async throws -> ClaimedDelivery {
        try await bench.register("ann", "phone", token: SendingBench.token(1))
        try await bench.enqueue(#"{"sendId": "s", "uid": "ann"}"#)
        return try #require(try await bench.claim().first)
    }

    @Test("a delivery that is claimed again before the outcome of its lost lease is written has two slots, and gives both back")
    func twice() async throws {
        try await SendingBench.with { bench in
            let first = try await claimed(bench)
            var second = first
            second.leaseToken += 1
            let slots = SendSlots(capacity: 10)
            let now = ContinuousClock.now
            for delivery in [first, second] { slots.enter(delivery, Self.credential, now: now) }
            #expect(slots.count == 2)
            _ = slots.leave(first)
            #expect(slots.leases == [second.leaseToken], "it is still to be renewed")
            _ = slots.leave(second)
            let free = slots.divide(among: [Self.credential], now: now)[Self.credential]
            #expect(slots.count == 0 && slots.count(of: first.queue) == 0 && free == QueueScheduler.Slots(capacity: 10))
        }
    }

    @Test("requests that a provider does not answer do not count for those that wait for slots")
    func silent() async throws {
        try await SendingBench.with { bench in
            let delivery = try await claimed(bench)
            let slots = SendSlots(capacity: 10)
            let now = ContinuousClock.now
            slots.enter(delivery, Self.credential, now: now)
            #expect(slots.countWithoutSlow(now: now + .seconds(1)) == 1)
            #expect(slots.countWithoutSlow(now: now + .seconds(1.1)) == 0)
            slots.answer(delivery, .accepted("m"), now: now + .seconds(2))
            #expect(slots.countWithoutSlow(now: now + .seconds(2)) == 1)
        }
    }
}
