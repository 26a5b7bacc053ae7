import PushContract
import Synchronization
import TestSupport
import Testing

@testable import Delivery

@Suite("Waiting for slots before a send is stored", .timeLimit(.minutes(1)))
struct SlotWaiterTests {
    private static let queue = SendQueue(id: 1, app: "app", provider: .apns, environment: .production, deliveryClass: .normal)
    private static let credential = SendSlots.Credential(provider: .apns, environment: .production, name: "key")

    private func waiters(_ slots: SendSlots, patience: Duration = .seconds(600)) -> SlotWaiters {
        SlotWaiters(slots: slots, usable: 10, patience: patience)
    }

    @Test("who finds no slots waits in the order of arrival, until those before have their slots and slots are free again")
    func order() async throws {
        let slots = SendSlots(capacity: 20)
        let waiters = waiters(slots)
        await waiters.expect(8) { true }
        let served = AsyncStream<Int>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, count) in [6, 2].enumerated() {
                group.addTask {
                    await waiters.expect(count) { true }
                    served.continuation.yield(count)
                }
                try await eventually("it waits") { waiters.waiting == index + 1 }
            }
            var order = served.stream.makeAsyncIterator()
            #expect(slots.reserve(8, of: Self.queue, Self.credential, .init(), now: .now) == 8)
            waiters.settle(8, mayWait: true)
            #expect(waiters.waiting == 2, "there are slots for two, but six came first")
            slots.release(8, of: Self.queue, Self.credential)
            waiters.wake(mayWait: true)
            #expect(await order.next() == 6)
            #expect(await order.next() == 2)
        }
        #expect(waiters.waiting == 0)
    }

    @Test("nobody waits where there are slots, or for what cannot be: more than there is, a queue that stays full, the end of patience")
    func noUse() async throws {
        let slots = SendSlots(capacity: 20)
        let patient = waiters(slots)
        await patient.expect(10) { true }
        await patient.expect(11) { true }
        await patient.expect(1) { false }
        let impatient = waiters(slots, patience: .zero)
        await impatient.expect(10) { true }
        await impatient.expect(1) { true }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await patient.expect(1) { true } }
            try await eventually("it waits") { patient.waiting == 1 }
            group.cancelAll()
        }
        #expect(patient.waiting == 0)
    }

    @Test("who waits goes on when the queue turns out to stay full")
    func queueFills() async throws {
        let waiters = waiters(SendSlots(capacity: 20))
        await waiters.expect(10) { true }
        let queue = Queue()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await waiters.expect(1) { !queue.isFull.load(ordering: .relaxed) } }
            try await eventually("it waits") { waiters.waiting == 1 }
            queue.isFull.store(true, ordering: .relaxed)
            waiters.wake(mayWait: false)
        }
        #expect(waiters.waiting == 0)
    }

    @Test("waiting is worth it while this process sends and the queues are empty, or have not been filled for longer than the patience")
    func admission() {
        var admission = DirectAdmission()
        let start = ContinuousClock.now
        func mayWait(_ seconds: Double) -> Bool { admission.mayWait(patience: .seconds(1), now: start + .seconds(seconds)) }
        #expect(!mayWait(0))
        admission.open()
        #expect(mayWait(0))
        admission.fill(Self.queue, now: start)
        #expect(mayWait(0.9))
        admission.look(at: [(Self.queue, 1)], throttles: [], now: start + .seconds(0.5))
        #expect(mayWait(0.9) && !mayWait(1), "since it was filled, not since it was looked at")
        admission.look(at: [(Self.queue, nil)], throttles: [], now: start + .seconds(2))
        #expect(mayWait(60))
        admission.look(at: [(Self.queue, 1)], throttles: [], now: start + .seconds(3))
        #expect(mayWait(3.9) && !mayWait(4))
        admission.close()
        #expect(!mayWait(3))
    }
}

private final class Queue: Sendable {
    let isFull = Atomic(false)
}
