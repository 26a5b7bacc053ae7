import HTTPServer
import Postgres
import PushContract

/// Some callers' sends on their way into the queue, inside their transaction.
struct Enqueueing {
    private let posts: [SendPost]
    /// Of all posts.
    private let requests: [SendRequest]
    /// The post of each.
    private let postIndexes: [Int]
    private let cipher: TokenCipher
    private let bulkThreshold: Int
    private let connection: BlockingConnection
    private let now: Timestamp
    private var known: [String: (hash: [UInt8], deliveries: Int)]
    private var outcome: [SendReceipt?]
    /// What stands in the batch more than once, by the place of the first.
    private var repeated: [Int: Int] = [:]
    private var deliveries: [Int: [NewDelivery]] = [:]
    private var contents: [Int: [PayloadKind: DeliveryContent]] = [:]
    private var skipped: [Int: [SkippedTargets]] = [:]
    private var classes: [Int: DeliveryClass] = [:]
    /// Sends to many people, which are stored one by one.
    private var fanOuts: [Int: FanOut] = [:]
    private var fanOutKinds: [Int: [PayloadKind]] = [:]

    init(_ posts: [SendPost], cipher: TokenCipher, bulkThreshold: Int, on connection: BlockingConnection) throws {
        self.posts = posts
        requests = posts.flatMap(\.requests)
        postIndexes = posts.indices.flatMap { Array(repeating: $0, count: posts[$0].requests.count) }
        now = posts.map(\.now).max() ?? .now()
        self.cipher = cipher
        self.bulkThreshold = bulkThreshold
        self.connection = connection
        known = try EnqueueQueries.known(requests.map(\.sendId), on: connection)
        outcome = Array(repeating: nil, count: requests.count)
    }

    /// Of each post.
    var receipts: [[SendReceipt]] {
        var receipts: [[SendReceipt]] = posts.map { _ in [] }
        for index in outcome.indices {
            let first = repeated[index] ?? index
            var receipt = outcome[first] ?? .conflict
            if first != index, case .accepted(let deliveries, _) = receipt { receipt = .duplicate(deliveries: deliveries) }
            receipts[postIndexes[index]].append(receipt)
        }
        return receipts
    }

    private func deliveryClass(of index: Int) -> DeliveryClass { classes[index] ?? .normal }

    /// Decides on each request; what remains without an outcome is to be stored.
    mutating func admit(check: SendStore.PayloadCheck) throws {
        var first: [String: Int] = [:]
        for (index, request) in requests.enumerated() {
            if let problem = request.refusal(posts[postIndexes[index]].apps) {
                outcome[index] = .refused(problem)
            } else if let stored = known[request.sendId] {
                outcome[index] = stored.hash == request.contentHash ? .duplicate(deliveries: stored.deliveries) : .conflict
            } else if let earlier = first[request.sendId] {
                outcome[index] = .conflict
                if requests[earlier].contentHash == request.contentHash { repeated[index] = earlier }
            } else {
                first[request.sendId] = index
            }
        }
        let open = requests.indices.filter { outcome[$0] == nil }
        let resolution = try TargetResolution(open.map { requests[$0] }, cipher: cipher, on: connection, now: now)
        for index in open {
            do {
                var tally = SkippedTally()
                let found = try resolution.deliveries(for: requests[index], &tally)
                // A thousand devices of one app make one check.
                var devices = Dictionary(found.map { (PayloadKind($0), 1) }, uniquingKeysWith: +)
                if let fanOut = FanOut(requests[index], now: now) {
                    devices = try fanOut.kinds(on: connection)
                    guard !devices.isEmpty else { throw FanOut.noRecipient(requests[index]) }
                    tally.skip(FanOut.unreachable(requests[index]), count: try fanOut.peopleWithoutDevice(on: connection))
                    fanOuts[index] = fanOut
                }
                let messages = try requests[index].skipRefused(&devices, apps: posts[postIndexes[index]].apps, check: check, &tally)
                contents[index] = messages.mapValues { DeliveryContent(.success($0)) }
                fanOutKinds[index] = fanOuts[index] == nil ? nil : Array(devices.keys)
                deliveries[index] = found.filter { devices[PayloadKind($0)] != nil }
                skipped[index] = tally.targets
                let count = devices.values.reduce(0, +)
                classes[index] = requests[index].deliveryClass ?? .usual(deliveries: count, bulkThreshold: bulkThreshold)
            } catch let problem as Problem {
                outcome[index] = .refused(problem)
            }
        }
    }

    /// - Parameters:
    ///   - direct: what may be leased at once.
    ///   - texts: what sends can name, for what is leased.
    mutating func store(direct: DirectLeases? = nil, texts: SendTexts = .standard) throws {
        // By id, so that two batches with the same ids wait for each other in one direction only.
        let open = deliveries.keys.sorted { requests[$0].sendId < requests[$1].sendId }
        guard !open.isEmpty else { return }
        let inserted = try EnqueueQueries.insert(
            open.map { (requests[$0], posts[postIndexes[$0]], deliveryClass(of: $0)) },
            now: now,
            on: connection
        )
        let lost = open.filter { !inserted.contains(requests[$0].sendId) }
        if !lost.isEmpty {
            // Another request with the same id committed first.
            known = try EnqueueQueries.known(lost.map { requests[$0].sendId }, on: connection)
            for index in lost {
                let stored = known[requests[index].sendId]
                outcome[index] = stored?.hash == requests[index].contentHash ? .duplicate(deliveries: stored?.deliveries ?? 0) : .conflict
            }
        }
        let stored = open.filter { inserted.contains(requests[$0].sendId) }
        var entries = stored.flatMap { index in
            deliveries[index, default: []].map { delivery in
                WaitingDelivery(
                    send: requests[index],
                    delivery: delivery,
                    queue: delivery.queue(deliveryClass(of: index)),
                    requestId: posts[postIndexes[index]].requestId,
                    content: contents[index]?[PayloadKind(delivery)]
                )
            }
        }
        let fanOutQueues = stored.flatMap { index in fanOutKinds[index, default: []].map { $0.queue(deliveryClass(of: index)) } }
        let queues = try SendQueueRegistry.queues(for: entries.map(\.queue) + fanOutQueues, on: connection)
        direct?.reserve(&entries, queues: queues)
        try EnqueueQueries.insertWaiting(entries.filter { !$0.isDirect }, queues: queues, now: now, on: connection)
        try direct?.insert(entries.filter(\.isDirect), queues: queues, now: now, cipher: cipher, texts: texts, on: connection)
        for index in stored {
            let many = try fanOuts[index]?.store(
                requests[index],
                to: fanOutKinds[index, default: []],
                as: deliveryClass(of: index),
                on: connection
            )
            outcome[index] = .accepted(deliveries: many ?? deliveries[index]?.count ?? 0, skipped: skipped[index, default: []])
        }
        let accepted = stored.compactMap { index in
            if case .accepted(let count, _)? = outcome[index] { (sendId: requests[index].sendId, deliveries: count) } else { nil }
        }
        try SendEvents.recordAccepted(accepted, on: connection)
    }
}
