import Attempts
import HTTPServer
import Postgres
import PushContract

/// Some callers' sends on their way into the queue, inside their transaction.
struct Enqueueing {
    /// What is to be stored of a request. By reference, as it is looked at in several passes.
    private final class Admitted {
        let deliveries: [NewDelivery]
        let kinds: [PayloadKind.Allowed]
        let skipped: [SkippedTargets]
        let deliveryClass: DeliveryClass
        /// Of a send to many people, which is stored by itself.
        let fanOut: FanOut?

        init(
            deliveries: [NewDelivery],
            kinds: [PayloadKind.Allowed],
            skipped: [SkippedTargets],
            deliveryClass: DeliveryClass,
            fanOut: FanOut?
        ) {
            self.deliveries = deliveries
            self.kinds = kinds
            self.skipped = skipped
            self.deliveryClass = deliveryClass
            self.fanOut = fanOut
        }
    }

    private let posts: [SendPost]
    /// Of all posts.
    private let requests: [SendRequest]
    /// The post of each.
    private let postIndexes: [Int]
    private let cipher: TokenCipher
    private let bulkThreshold: Int
    private let expectation: KeyExpectation
    private let fanOutSizes: FanOutSizes
    private let connection: BlockingConnection
    private let now: Timestamp
    private var outcome: [SendReceipt?]
    /// What is in the batch more than once, by the place of the first.
    private var repeated: [Int: Int] = [:]
    private var admitted: [Admitted?]
    /// What is not to be stored, and may be stored already.
    private var refused: [Int] = []

    /// - Parameter expectation: of the sends that come this way.
    init(
        _ posts: [SendPost],
        cipher: TokenCipher,
        bulkThreshold: Int,
        expectation: KeyExpectation = KeyExpectation(),
        fanOutSizes: FanOutSizes = FanOutSizes(),
        on connection: BlockingConnection
    ) {
        self.posts = posts
        requests = posts.flatMap(\.requests)
        postIndexes = posts.indices.flatMap { Array(repeating: $0, count: posts[$0].requests.count) }
        now = posts.map(\.now).max() ?? .now()
        self.cipher = cipher
        self.bulkThreshold = bulkThreshold
        self.expectation = expectation
        self.fanOutSizes = fanOutSizes
        self.connection = connection
        outcome = Array(repeating: nil, count: requests.count)
        admitted = Array(repeating: nil, count: requests.count)
    }

    /// Of each post.
    var receipts: [[SendReceipt]] {
        var receipts: [[SendReceipt]] = posts.map { _ in [] }
        for index in outcome.indices {
            let first = repeated[index] ?? index
            var receipt = outcome[first] ?? .conflict
            if first != index, case .accepted(let deliveries, let skipped) = receipt {
                receipt = .duplicate(deliveries: deliveries, skipped: skipped)
            }
            receipts[postIndexes[index]].append(receipt)
        }
        return receipts
    }

    /// Decides on each request; what remains without an outcome is to be stored.
    mutating func admit(check: SendStore.PayloadCheck) throws {
        var first = [String: Int](minimumCapacity: requests.count)
        for (index, request) in requests.enumerated() {
            if let problem = request.refusal(posts[postIndexes[index]].apps) {
                outcome[index] = .refused(problem)
            } else if let earlier = first[request.sendId] {
                outcome[index] = .conflict
                if requests[earlier].contentHash == request.contentHash { repeated[index] = earlier } else { refused.append(index) }
            } else {
                first[request.sendId] = index
            }
        }
        // Nobody is to search for the recipients of one that is stored.
        try findStored(requests.indices.filter { outcome[$0] == nil && FanOut(requests[$0], now: now) != nil })
        let open = requests.indices.filter { outcome[$0] == nil }
        let resolution = try TargetResolution(open.map { requests[$0] }, cipher: cipher, on: connection, now: now)
        for index in open {
            do {
                var tally = SkippedTally()
                let found = try resolution.deliveries(for: requests[index], &tally)
                // A thousand devices of one app make one check.
                var devices = PayloadKind.counts(of: found)
                let fanOut = FanOut(requests[index], now: now)
                if let fanOut {
                    let reach = try fanOut.reach(on: connection)
                    devices = reach.kinds
                    guard !devices.isEmpty else { throw FanOut.noRecipient(requests[index]) }
                    tally.skip(FanOut.unreachable(requests[index]), count: reach.peopleWithoutDevice)
                }
                let kinds = try requests[index].allowedKinds(of: devices, apps: posts[postIndexes[index]].apps, check: check, &tally)
                let count = kinds.reduce(0) { $0 + $1.devices }
                let isAllowed = { (delivery: NewDelivery) in kinds.contains { $0.kind == PayloadKind(delivery) } }
                admitted[index] = Admitted(
                    deliveries: kinds.count < devices.count ? found.filter(isAllowed) : found,
                    kinds: kinds,
                    skipped: tally.targets,
                    deliveryClass: requests[index].deliveryClass ?? .usual(deliveries: count, bulkThreshold: bulkThreshold),
                    fanOut: fanOut
                )
            } catch let problem as Problem {
                outcome[index] = .refused(problem)
                refused.append(index)
            }
        }
    }

    /// - Parameters:
    ///   - direct: what may be leased at once.
    ///   - texts: what sends can name, for what is leased.
    mutating func store(direct: DirectLeases? = nil, texts: SendTexts = .standard) throws {
        // By id, so that two batches with the same ids wait for each other in one direction only.
        let open = admitted.indices.filter { admitted[$0] != nil }.sorted { requests[$0].sendId < requests[$1].sendId }
        let known = try EnqueueQueries.insert(
            open.map { index in
                let admitted = admitted[index]
                return NewSend(
                    request: requests[index],
                    post: posts[postIndexes[index]],
                    deliveryClass: admitted?.deliveryClass ?? .normal,
                    skipped: try admitted?.skipped.stored
                )
            },
            expectation: expectation,
            now: now,
            on: connection
        )
        try findStored(refused + open.filter { known.contains(requests[$0].sendId) })
        // In the order in which they came: of two with one `collapseId` the later is the newer.
        let stored = open.sorted().compactMap { index in
            known.contains(requests[index].sendId) ? nil : admitted[index].map { (index, $0) }
        }
        guard !stored.isEmpty else { return }
        let queues = try queues(of: stored.map(\.1))
        var entries: [WaitingDelivery] = []
        var newest: [WaitingDelivery] = []
        var last: SendQueue?
        for (index, admitted) in stored {
            let replaces = requests[index].content.collapseId != nil
            for delivery in admitted.deliveries {
                let kind = PayloadKind(delivery)
                let key = kind.queue(admitted.deliveryClass)
                // Most go where the one before goes.
                let queue = try last.flatMap { SendQueueRegistry.Key($0) == key ? $0 : nil } ?? queues.queue(key)
                last = queue
                let entry = WaitingDelivery(
                    send: requests[index],
                    delivery: delivery,
                    queue: queue,
                    requestId: posts[postIndexes[index]].requestId,
                    content: admitted.kinds.first { $0.kind == kind }?.content
                )
                if replaces { newest.append(entry) } else { entries.append(entry) }
            }
        }
        // Before what it may supersede: outcomes are in the order in which they became true.
        try SendEvents.recordAccepted(
            stored.filter { $0.1.fanOut == nil }.map { (requests[$0.0].sendId, $0.1.deliveries.count) },
            on: connection
        )
        direct?.reserve(&entries, newest: &newest)
        try EnqueueQueries.insertWaiting(entries.filter { !$0.isDirect }, now: now, on: connection)
        let flights = try NewestQueries.insert(newest, now: now, on: connection)
        try direct?.insert(entries.filter(\.isDirect), flights, now: now, cipher: cipher, texts: texts, on: connection)
        for (index, admitted) in stored {
            var count = admitted.deliveries.count
            if let fanOut = admitted.fanOut {
                let devices = admitted.kinds.reduce(0) { $0 + $1.devices }
                let send = FanOutSend(requests[index], to: admitted.kinds.map(\.kind), as: admitted.deliveryClass)
                if try fanOut.isLarge(devices: devices, fanOutSizes, on: connection),
                    let send = try FanOutQueries.begin(send, to: fanOut, devices: devices, on: connection)
                {
                    count = devices
                    try SendEvents.recordAccepted([(send.sendId, count)], on: connection)
                    _ = try FanOutQueries.storeNext(send, to: fanOut, people: fanOutSizes.people, on: connection)
                } else {
                    let stored = try fanOut.store(send, on: connection)
                    count = stored.count
                    try SendEvents.recordAccepted([(send.sendId, count)], on: connection)
                    try SendEvents.record(.superseded, stored.superseded, on: connection)
                }
            }
            outcome[index] = .accepted(deliveries: count, skipped: admitted.skipped)
        }
    }

    private func queues(of sends: [Admitted]) throws -> SendQueueRegistry.Found {
        var keys: [SendQueueRegistry.Key] = []
        for send in sends {
            for kind in send.kinds {
                let key = kind.kind.queue(send.deliveryClass)
                if keys.last != key { keys.append(key) }
            }
        }
        return try SendQueueRegistry.queues(for: keys, on: connection)
    }

    /// What was stored before is a duplicate or a conflict, whatever else could be said of it now.
    private mutating func findStored(_ indexes: [Int]) throws {
        guard !indexes.isEmpty else { return }
        let known = try EnqueueQueries.known(indexes.map { requests[$0].sendId }, on: connection)
        for index in indexes {
            guard let stored = known[requests[index].sendId] else { continue }
            outcome[index] =
                stored.hash == requests[index].contentHash ? .duplicate(deliveries: stored.deliveries, skipped: stored.skipped) : .conflict
        }
    }
}
