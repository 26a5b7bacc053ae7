import PushContract
import Synchronization
import Testing

@testable import Delivery

@Suite("Waiting for slots before a send is stored")
struct DirectRoomTests {
    private static let queue = SendQueue(id: 1, app: "app", provider: .apns, environment: .production, deliveryClass: .normal)
    private static let credential = SendSlots.Credential(provider: .apns, environment: .production, name: "key")

    private func room(_ slots: SendSlots, patience: Duration = .seconds(600)) -> DirectRoom {
        DirectRoom(slots: slots, usable: 10, patience: patience)
    }

    @Test("who finds no slots waits in the order of arrival, until those before have their slots and slots are free again")
    func order() async {
        let slots = SendSlots(capacity: 20)
        let room = room(slots)
        await room.enter(8) { .empty }
        let entered = AsyncStream<Int>.makeStream()
        await withTaskGroup(of: Void.self) { group in
            for (index, count) in [6, 2].enumerated() {
                group.addTask {
                    await room.enter(count) { .empty }
                    entered.continuation.yield(count)
                }
                while room.waiting <= index { await Task.yield() }
            }
            var order = entered.stream.makeAsyncIterator()
            #expect(slots.reserve(8, of: Self.queue, Self.credential, .init(), now: .now) == 8)
            room.leave(8, .empty)
            #expect(room.waiting == 2, "two would find room, but six came first")
            slots.release(8, of: Self.queue, Self.credential)
            room.wake(.emptying)
            #expect(room.waiting == 2, "what waits in the queue goes first")
            room.wake(.empty)
            #expect(await order.next() == 6)
            #expect(await order.next() == 2)
        }
        #expect(room.waiting == 0)
    }

    @Test("nobody waits for what cannot be: more than there is, behind a queue that stays full, or longer than the patience")
    func noUse() async {
        let slots = SendSlots(capacity: 20)
        let patient = room(slots)
        await patient.enter(10) { .empty }
        await patient.enter(11) { .empty }
        await patient.enter(1) { .waiting }
        await room(slots, patience: .zero).enter(1) { .emptying }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await patient.enter(1) { .empty } }
            while patient.waiting == 0 { await Task.yield() }
            group.cancelAll()
        }
        #expect(patient.waiting == 0)
    }

    @Test("who waits goes on when the queue turns out to stay full")
    func queueFills() async {
        let slots = SendSlots(capacity: 20)
        let room = room(slots)
        await room.enter(10) { .empty }
        let queue = Queue()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await room.enter(1) { queue.isFull.load(ordering: .relaxed) ? .waiting : .empty } }
            while room.waiting == 0 { await Task.yield() }
            queue.isFull.store(true, ordering: .relaxed)
            room.wake(.waiting)
        }
        #expect(room.waiting == 0)
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
