import Postgres
import PushContract
import Synchronization

/// What an instance leases in the transaction that stores it, so that it need not go through the queue: of one such transaction. Safe to use
/// from any thread.
final class DirectLeases: Sendable {
    private struct State {
        var reserved: [SlotReservation] = []
        var claimed: [ClaimedDelivery] = []
    }

    private let dispatcher: SendDispatcher
    private let state = Mutex(State())

    init(for dispatcher: SendDispatcher) { self.dispatcher = dispatcher }

    /// Marks deliveries for which there are slots, in order. Not those that wait by their caller's wish, or for others with their `collapseId`.
    func reserve(_ entries: inout [WaitingDelivery], queues: [SendQueueRegistry.Key: Int32]) {
        let candidates = entries.indices.filter { entries[$0].send.notBefore == nil && entries[$0].send.content.collapseId == nil }
        for (key, indexes) in Dictionary(grouping: candidates, by: { entries[$0].queue }) {
            guard let id = queues[key] else { continue }
            let queue = SendQueue(
                id: id,
                app: key.app,
                provider: key.provider,
                environment: key.environment,
                deliveryClass: key.deliveryClass
            )
            guard let reservation = dispatcher.reserve(indexes.count, of: queue) else { continue }
            state.withLock { $0.reserved.append(reservation) }
            for index in indexes.prefix(reservation.count) { entries[index].isDirect = true }
        }
    }

    /// Leases deliveries that this transaction has stored.
    func claim(_ deliveryIds: [Int64], cipher: TokenCipher, texts: SendTexts, on connection: BlockingConnection) throws {
        let query = ClaimQueries.direct(deliveryIds, lease: dispatcher.lease, worker: dispatcher.worker)
        var claimed = try connection.query(query).map { try ClaimedDelivery($0, cipher: cipher, texts: texts) }
        for group in claimed.namedTokens {
            try claimed.markDead(
                group,
                try connection.query(TokenRegistry.dead(among: group.hashes, provider: group.provider, app: group.app))
            )
        }
        // From here on they have slots of their own. `giveBack` spares the leases that this process knows, so it has to know them before the
        // commit.
        dispatcher.enter(claimed)
        let reserved = state.withLock { [claimed] state in
            defer { state = State(claimed: claimed) }
            return state.reserved
        }
        dispatcher.release(reserved)
    }

    /// The transaction is committed; how many deliveries are on their way.
    func start() -> Int {
        let state = take()
        dispatcher.release(state.reserved)
        dispatcher.start(state.claimed)
        return state.claimed.count
    }

    /// The transaction failed, or its end is unknown; or it begins once more.
    func reset() {
        let state = take()
        dispatcher.release(state.reserved)
        dispatcher.abandon(state.claimed)
    }

    private func take() -> State {
        state.withLock { state in
            defer { state = State() }
            return state
        }
    }
}
