package import HTTPServer
import Postgres
package import PushContract

extension SendStore {
    /// A delivery's payload as the provider would see it is checked before it is stored.
    package typealias PayloadCheck = @Sendable (SendRequest, _ provider: Provider, _ platform: Platform, _ app: String) -> Problem?

    /// Stores the sends that can be sent, in one transaction; the answer is durable when this returns.
    package func enqueue(
        _ requests: [SendRequest],
        requestId: String,
        author: String,
        now: Timestamp,
        check: @escaping PayloadCheck
    ) async throws -> [SendReceipt] {
        guard !requests.isEmpty else { return [] }
        let request = EnqueueRequest(sends: requests, requestId: requestId, author: author, now: now)
        return try await enqueue([request], check: check, leases: DirectReservation(DirectLeases())).receipts[0]
    }

    /// Stores what several requests ask for, in one transaction.
    ///
    /// - Parameter leases: where what can be sent at once is leased.
    func enqueue(_ requests: [EnqueueRequest], check: @escaping PayloadCheck, leases: DirectReservation) async throws -> EnqueuedSends {
        let enqueued = try await pool.performTransaction { [self] connection in
            // Of a run that failed.
            leases.release()
            var enqueueing = Enqueueing(requests, bulkThreshold: bulkThreshold, on: connection)
            try enqueueing.admit(cipher: cipher, check: check)
            try enqueueing.storeSends()
            return try enqueueing.storeDeliveries(leases: leases) { try ClaimedDelivery($0, cipher: cipher, texts: texts) }
        }
        return enqueued
    }
}

/// What a transaction stored.
struct EnqueuedSends: Sendable {
    /// Of each request, one for each of its sends.
    var receipts: [[SendReceipt]] = []
    /// Queues into which something was put that waits.
    var waiting: Set<Int32> = []
    /// Deliveries that are leased already.
    var leased: [ClaimedDelivery] = []
}

/// Sends on their way into the queue, inside their transaction.
private struct Enqueueing {
    private let requests: [EnqueueRequest]
    private let sends: [SendRequest]
    private let bulkThreshold: Int
    private let connection: BlockingConnection
    private let now: Timestamp
    private var outcome: [SendReceipt?]
    private var deliveries: [Int: [NewDelivery]] = [:]
    private var skipped: [Int: [SkippedTargets]] = [:]
    private var classes: [Int: DeliveryClass] = [:]
    /// Sends to many people, which are stored one by one.
    private var fanOuts: [Int: FanOut] = [:]
    private var fanOutKinds: [Int: [PayloadKind]] = [:]
    /// What is stored by this transaction, in order.
    private var stored: [Int] = []

    init(_ requests: [EnqueueRequest], bulkThreshold: Int, on connection: BlockingConnection) {
        self.requests = requests
        self.bulkThreshold = bulkThreshold
        self.connection = connection
        sends = requests.flatMap(\.sends)
        now = requests.map(\.now).max() ?? .now()
        outcome = Array(repeating: nil, count: sends.count)
    }

    private func deliveryClass(of index: Int) -> DeliveryClass { classes[index] ?? .normal }
    private func accepted(_ index: Int, _ deliveries: Int) -> SendReceipt {
        .accepted(deliveries: deliveries, skipped: skipped[index, default: []])
    }

    /// Decides on each send; what remains without an outcome is to be stored.
    mutating func admit(cipher: TokenCipher, check: SendStore.PayloadCheck) throws {
        let resolution = try TargetResolution(sends, cipher: cipher, on: connection, now: now)
        for (index, send) in sends.enumerated() {
            do {
                var tally = SkippedTally()
                let found = try resolution.deliveries(for: send, &tally)
                // A thousand devices of one app make one check.
                var devices = Dictionary(found.map { (PayloadKind($0), 1) }, uniquingKeysWith: +)
                if let fanOut = FanOut(send, now: now) {
                    devices = try fanOut.kinds(on: connection)
                    guard !devices.isEmpty else { throw FanOut.noRecipient(send) }
                    tally.skip(FanOut.unreachable(send), count: try fanOut.peopleWithoutDevice(on: connection))
                    fanOuts[index] = fanOut
                }
                for (kind, count) in devices {
                    guard let problem = check(send, kind.provider, kind.platform, kind.app) else { continue }
                    tally.skip(problem, count: count)
                    devices[kind] = nil
                }
                if devices.isEmpty, let problem = tally.problem { throw problem }
                fanOutKinds[index] = fanOuts[index] == nil ? nil : Array(devices.keys)
                deliveries[index] = found.filter { devices[PayloadKind($0)] != nil }
                skipped[index] = tally.targets
                let count = devices.values.reduce(0, +)
                classes[index] = send.deliveryClass ?? .usual(deliveries: count, bulkThreshold: bulkThreshold)
            } catch let problem as Problem {
                outcome[index] = .refused(problem)
            }
        }
    }

    /// Stores what is new. What was stored before is answered so, whatever became of its target since.
    mutating func storeSends() throws {
        var authors: [(requestId: String, author: String)] = []
        for request in requests { authors += Array(repeating: (request.requestId, request.author), count: request.sends.count) }
        var first: [String: Int] = [:]
        for index in sends.indices where outcome[index] == nil && first[sends[index].sendId] == nil { first[sends[index].sendId] = index }
        // By id, so that two transactions with the same ids wait for each other in one direction only.
        let open = first.values.sorted { sends[$0].sendId < sends[$1].sendId }
        let inserted = try EnqueueQueries.insert(
            open.map { EnqueueQueries.Entry(send: sends[$0], deliveryClass: deliveryClass(of: $0), request: authors[$0]) },
            now: now,
            on: connection
        )
        stored = open.filter { inserted.contains(sends[$0].sendId) }
        for index in stored { outcome[index] = accepted(index, deliveries[index]?.count ?? 0) }
        // Known from before, or a second time in this transaction.
        let rest = sends.indices.filter { if case .accepted? = outcome[$0] { false } else { true } }
        guard !rest.isEmpty else { return }
        let known = try EnqueueQueries.known(Array(Set(rest.map { sends[$0].sendId })), on: connection)
        for index in rest {
            if let own = first[sends[index].sendId], inserted.contains(sends[index].sendId) {
                let count = deliveries[own]?.count ?? 0
                outcome[index] = sends[own].contentHash == sends[index].contentHash ? .duplicate(deliveries: count) : .conflict
            } else if let known = known[sends[index].sendId] {
                outcome[index] = known.hash == sends[index].contentHash ? .duplicate(deliveries: known.deliveries) : .conflict
            }
        }
    }

    /// Puts each new delivery where it waits, or under a lease if it can be sent at once.
    mutating func storeDeliveries(leases: DirectReservation, _ claimed: (Row) throws -> ClaimedDelivery) throws -> EnqueuedSends {
        var enqueued = EnqueuedSends()
        let entries = stored.flatMap { index in
            deliveries[index, default: []].map { (send: sends[index], delivery: $0, queue: $0.queue(deliveryClass(of: index))) }
        }
        let fanOutQueues = stored.flatMap { index in fanOutKinds[index, default: []].map { $0.queue(deliveryClass(of: index)) } }
        let queues = try SendQueueRegistry.queues(for: entries.map(\.queue) + fanOutQueues, on: connection)
        var (direct, waiting): ([EnqueueQueries.NewRow], [EnqueueQueries.NewRow]) = ([], [])
        for (key, entries) in Dictionary(grouping: entries, by: \.queue) {
            guard let queue = queues[key] else { continue }
            let rows = entries.map { EnqueueQueries.NewRow(sendId: $0.send.sendId, delivery: $0.delivery, queue: queue.id) }
            let isDue = entries.allSatisfy { $0.send.notBefore.map { $0 <= now } ?? true }
            let count = isDue ? leases.reserve(rows.count, of: queue) : 0
            direct += rows.prefix(count)
            waiting += rows.dropFirst(count)
        }
        try EnqueueQueries.insertWaiting(waiting, now: now, on: connection)
        enqueued.waiting = Set(waiting.map(\.queue))
        if !direct.isEmpty {
            let ids = try EnqueueQueries.insertDirect(direct, now: now, on: connection)
            enqueued.leased = try connection.query(ClaimQueries.leaseNew(ids, lease: leases.lease, worker: leases.worker)).map(claimed)
        }
        for (index, fanOut) in fanOuts.sorted(by: { $0.key < $1.key }) where stored.contains(index) {
            let count = try fanOut.store(sends[index], to: fanOutKinds[index, default: []], as: deliveryClass(of: index), on: connection)
            outcome[index] = accepted(index, count)
            enqueued.waiting.formUnion(fanOutQueues.compactMap { queues[$0]?.id })
        }
        var rest = outcome.map { $0 ?? .conflict }[...]
        for request in requests {
            enqueued.receipts.append(Array(rest.prefix(request.sends.count)))
            rest = rest.dropFirst(request.sends.count)
        }
        return enqueued
    }
}

/// What a payload's rules and a delivery's queue depend on.
struct PayloadKind: Hashable {
    var provider: Provider
    var platform: Platform
    var environment: PushEnvironment
    var app: String

    func queue(_ deliveryClass: DeliveryClass) -> SendQueueRegistry.Key {
        SendQueueRegistry.Key(app: app, provider: provider, environment: environment, deliveryClass: deliveryClass)
    }
}

extension PayloadKind {
    init(_ delivery: NewDelivery) {
        self.init(provider: delivery.provider, platform: delivery.platform, environment: delivery.environment, app: delivery.app)
    }
}

extension NewDelivery {
    fileprivate func queue(_ deliveryClass: DeliveryClass) -> SendQueueRegistry.Key { PayloadKind(self).queue(deliveryClass) }
}
