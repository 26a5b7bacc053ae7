import Postgres
import PushContract
import Synchronization

/// What an instance leases in the transaction that stores it, so that it need not go through the queue: of one such transaction. Safe to
/// use from any thread.
final class DirectLeases: Sendable {
    private struct State {
        /// Sends for which slots are expected, as long as they have none.
        var expected = 0
        var reserved: [SlotReservation] = []
        var claimed: [StartedDelivery] = []
    }

    private let dispatcher: SendDispatcher
    private let state: Mutex<State>

    /// - Parameter expected: sends for which the dispatcher expects slots.
    init(for dispatcher: SendDispatcher, expected: Int) {
        self.dispatcher = dispatcher
        state = Mutex(State(expected: expected))
    }

    /// Marks deliveries for which there are slots, in order; `newest` are those with a `collapseId`.
    ///
    /// Where some of these are to devices and some to tokens, all wait in the queue: to lease them at once, keys would be locked in another
    /// order than everywhere else (`NewestQueries.lease`).
    func reserve(_ entries: inout [WaitingDelivery], newest: inout [WaitingDelivery]) {
        reserve(&entries)
        let named = newest.count { $0.delivery.deviceId == nil }
        if named == 0 || named == newest.count { reserve(&newest) }
        settleExpected()
    }

    /// Not those that wait by their caller's wish.
    private func reserve(_ entries: inout [WaitingDelivery]) {
        let candidates = entries.indices.filter { entries[$0].send.notBefore == nil }
        for indexes in Dictionary(grouping: candidates, by: { entries[$0].queue.id }).values {
            guard let reservation = dispatcher.reserve(indexes.count, of: entries[indexes[0]].queue) else { continue }
            state.withLock { $0.reserved.append(reservation) }
            for index in indexes.prefix(reservation.count) { entries[index].isDirect = true }
        }
    }

    /// Stores deliveries that are reserved, and leases them and those in `flights`. They go on with what is known of them here: only their
    /// devices are read.
    func insert(
        _ entries: [WaitingDelivery],
        _ flights: [NewestQueries.Flight],
        now: Timestamp,
        cipher: TokenCipher,
        texts: SendTexts,
        on connection: BlockingConnection
    ) throws {
        var contents = DeliveryContents(texts: texts)
        var claimed: [StartedDelivery] = []
        if !entries.isEmpty {
            let rows = try connection.query(
                EnqueueQueries.lease(entries.map(\.delivery), lease: dispatcher.lease, worker: dispatcher.worker)
            )
            claimed = try zip(entries, rows).map { entry, row in
                StartedDelivery(try ClaimedDelivery(entry, row, leaseSize: rows.count, cipher: cipher, contents: &contents))
            }
            try SendCopy.insert(zip(claimed, entries).map { ($0.delivery.deliveryId, $1) }, now: now, on: connection)
        }
        if !flights.isEmpty {
            let byId = Dictionary(uniqueKeysWithValues: flights.map { ($0.deliveryId, $0) })
            let rows = try connection.query(NewestQueries.lease(flights, lease: dispatcher.lease, worker: dispatcher.worker))
            for row in rows {
                guard let flight = byId[try row.decode(Int64.self, at: 0)] else { continue }
                claimed.append(
                    StartedDelivery(
                        try ClaimedDelivery(
                            flight.entry,
                            row,
                            leaseSize: rows.count,
                            ownKey: flight.key,
                            cipher: cipher,
                            contents: &contents
                        )
                    )
                )
            }
        }
        guard !claimed.isEmpty else { return }
        // From here on they have slots of their own. `giveBack` spares the leases that this process knows, so it has to know them before
        // the commit.
        let reserved = state.withLock { state in
            defer { state = State(expected: state.expected, claimed: claimed) }
            return state.reserved
        }
        dispatcher.enter(claimed, for: reserved)
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

    /// What is stored has its slots, or waits in the queue.
    func settleExpected() {
        dispatcher.settleExpected(
            state.withLock { state in
                defer { state.expected = 0 }
                return state.expected
            }
        )
    }

    private func take() -> State {
        state.withLock { state in
            defer { state = State(expected: state.expected) }
            return state
        }
    }
}
