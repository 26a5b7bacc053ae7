import CoreMetrics
import PushContract
import Synchronization

/// What the dispatcher knows of the queues between its rounds.
struct QueueKnowledge {
    /// Nothing is known before the first round.
    var isRead = false
    var throttles: [SendThrottle] = []
    /// Queues that have something to claim, as far as known.
    var waiting: Set<Int32> = []
    /// Queues into which this process put something since the current round began.
    var noted: Set<Int32> = []
    /// Several credentials are in use.
    var isShared = false
}

/// Sends that are leased as they are stored, and so never wait in the queue.
extension SendDispatcher {
    /// Takes free slots for deliveries of a queue that has nothing waiting: how many. None where a circuit, a pause or a throttle would have a
    /// say.
    func reserve(_ wanted: Int, of queue: SendQueue) -> Int {
        let credential = credential(queue.scope)
        let isIdle = knowledge.withLock { known in
            known.isRead && !known.waiting.contains(queue.id) && !known.noted.contains(queue.id)
                && !known.throttles.contains { $0.applies(to: queue) } && (queue.isCritical || !known.isShared || !slots.isSlow(credential))
        }
        guard isIdle, !credential.name.isEmpty, !pipeline.gate.hasCircuit(at: queue.scope) else { return 0 }
        return slots.reserve(min(wanted, allowed(queue)), credential, queue: queue, policy: configuration.queues, now: .now)
    }

    func release(_ count: Int, of queue: SendQueue) { slots.release(count, credential(queue.scope), queue: queue) }

    /// Sends what was leased in a reserved slot of its queue.
    func begin(_ delivery: ClaimedDelivery, of queue: SendQueue) {
        SendMetrics.claimed.increment()
        let credential = credential(delivery.scope)
        // The token may belong to the other environment by now.
        let isReserved = credential == self.credential(queue.scope)
        if !isReserved { release(1, of: queue) }
        slots.enter(delivery, credential, isReserved: isReserved, now: .now)
        direct.continuation.yield(delivery)
    }

    /// This process put something into these queues.
    func note(waiting queues: Set<Int32>) { knowledge.withLock { $0.noted.formUnion(queues) } }

    /// Handles what `begin` hands over, until the end of the drain.
    func handleDirect() async {
        await withDiscardingTaskGroup { group in
            for await delivery in direct.stream { group.addTask { await self.handle(delivery) } }
        }
    }
}
