import PushContract
import Synchronization
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
    func order() async {
        let slots = SendSlots(capacity: 20)
        let waiters = waiters(slots)
        await waiters.expect(8) { .empty }
        let served = AsyncStream<Int>.makeStream()
        await withTaskGroup(of: Void.self) { group in
            for (index, count) in [6, 2].enumerated() {
                group.addTask {
                    await waiters.expect(count) { .empty }
                    served.continuation.yield(count)
                }
                while waiters.waiting <= index { await Task.yield() }
            }
            var order = served.stream.makeAsyncIterator()
            #expect(slots.reserve(8, of: Self.queue, Self.credential, .init(), now: .now) == 8)
            waiters.settle(8, .empty)
            #expect(waiters.waiting == 2, "there are slots for two, but six came first")
            slots.release(8, of: Self.queue, Self.credential)
            waiters.wake(.emptying)
            #expect(waiters.waiting == 2, "what waits in the queue goes first")
            waiters.wake(.empty)
            #expect(await order.next() == 6)
            #expect(await order.next() == 2)
        }
        #expect(waiters.waiting == 0)
    }

    @Test("nobody waits for what cannot be: more than there is, behind a queue that stays full, or longer than the patience")
    func noUse() async {
        let slots = SendSlots(capacity: 20)
        let patient = waiters(slots)
        await patient.expect(10) { .empty }
        await patient.expect(11) { .empty }
        await patient.expect(1) { .waiting }
        await waiters(slots, patience: .zero).expect(1) { .emptying }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await patient.expect(1) { .empty } }
            while patient.waiting == 0 { await Task.yield() }
            group.cancelAll()
        }
        #expect(patient.waiting == 0)
    }

    @Test("who waits goes on when the queue turns out to stay full")
    func queueFills() async {
        let slots = SendSlots(capacity: 20)
        let waiters = waiters(slots)
        await waiters.expect(10) { .empty }
        let queue = Queue()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await waiters.expect(1) { queue.isFull.load(ordering: .relaxed) ? .waiting : .empty } }
            while waiters.waiting == 0 { await Task.yield() }
            queue.isFull.store(true, ordering: .relaxed)
            waiters.wake(.waiting)
        }
        #expect(waiters.waiting == 0)
    }

    @Test("queues may soon be empty for as long as somebody has patience; and are open only while this process sends")
    func admission() {
        var admission = DirectAdmission()
        let start = ContinuousClock.now
        func queues(_ seconds: Double) -> DirectAdmission.Queues { admission.queues(patience: .seconds(1), now: start + .seconds(seconds)) }
        #expect(queues(0) == .waiting)
        admission.open()
        #expect(queues(0) == .empty)
        admission.fill(Self.queue, now: start)
        #expect(queues(0.9) == .emptying)
        admission.look(at: [(Self.queue, true)], throttles: [], now: start + .seconds(0.5))
        #expect(queues(0.9) == .emptying && queues(1) == .waiting, "since it was filled, not since it was looked at")
        admission.look(at: [(Self.queue, false)], throttles: [], now: start + .seconds(2))
        #expect(queues(2) == .empty)
        admission.look(at: [(Self.queue, true)], throttles: [], now: start + .seconds(3))
        #expect(queues(3.9) == .emptying && queues(4) == .waiting)
        admission.close()
        #expect(queues(4) == .waiting)
    }
}

private final class Queue: Sendable {
    let isFull = Atomic(false)
}
