package import HTTPServer
package import Postgres
package import Providers
package import PushContract

extension SendStore {
    /// A delivery's payload as the provider would see it is checked before it is stored. What it returns is sent to each device; nil: what is
    /// sent is made for each delivery.
    package typealias PayloadCheck =
        @Sendable (SendRequest, _ provider: Provider, _ platform: Platform, _ app: String) throws(Problem) -> PushMessage?

    /// Stores the sends that can be sent, in one transaction; the answer is durable when this returns.
    package func enqueue(
        _ requests: [SendRequest],
        requestId: String,
        author: String,
        apps: KeyApps = .all,
        now: Timestamp,
        check: @escaping PayloadCheck
    ) async throws -> [SendReceipt] {
        try await enqueue([SendPost(requests: requests, requestId: requestId, author: author, apps: apps, now: now)], check: check)[0]
    }

    /// The same for several callers in one transaction, which succeeds or fails for all. No two may name the same send.
    ///
    /// - Parameter direct: what may be leased at once rather than wait in the queue.
    /// - Returns: the receipts of each.
    func enqueue(_ posts: [SendPost], direct: DirectLeases? = nil, check: @escaping PayloadCheck) async throws -> [[SendReceipt]] {
        guard posts.contains(where: { !$0.requests.isEmpty }) else { return posts.map { _ in [] } }
        return try await pool.performTransaction { [cipher, contents, bulkThreshold] connection in
            direct?.reset()
            var enqueueing = try Enqueueing(posts, cipher: cipher, bulkThreshold: bulkThreshold, on: connection)
            try enqueueing.admit(check: check)
            try enqueueing.store(direct: direct, contents: contents)
            return enqueueing.receipts
        }
    }
}

extension SendStore {
    /// Stores one send of a feature above, in its transaction. Its target names no tokens.
    package static func enqueue(
        _ request: SendRequest,
        requestId: String,
        author: String,
        now: Timestamp,
        check: PayloadCheck,
        on connection: BlockingConnection
    ) throws -> SendReceipt {
        let post = SendPost(requests: [request], requestId: requestId, author: author, apps: .all, now: now)
        var enqueueing = try Enqueueing([post], cipher: .withoutKeys, bulkThreshold: .max, on: connection)
        try enqueueing.admit(check: check)
        try enqueueing.store()
        return enqueueing.receipts[0][0]
    }
}

/// Some callers' sends on their way into the queue, inside their transaction.
private struct Enqueueing {
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
    ///   - shared: what is in flight.
    mutating func store(direct: DirectLeases? = nil, contents shared: DeliveryContents? = nil) throws {
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
        let waiting = entries.filter { !$0.isDirect }
        try EnqueueQueries.insertWaiting(waiting, queues: queues, now: now, on: connection)
        if let direct, let shared {
            try direct.insert(entries.filter(\.isDirect), queues: queues, now: now, cipher: cipher, contents: shared, on: connection)
            for entry in waiting { entry.keepContent(in: shared) }
        }
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

extension SendRequest {
    /// Why a key may not make this send, as far as the send itself says: the app that it names. Before anything is looked up, so that the
    /// answer says nothing about another app's devices.
    func refusal(_ apps: KeyApps) -> Problem? {
        switch target {
        case .users(_, let app?), .audience(_, let app?), .user(_, let app?): apps.refusal(of: app, pointer: pointer + "/app")
        case .tokens(_, _, _, _, let app), .token(_, _, _, _, _, let app): apps.refusal(of: app, pointer: pointer + "/app")
        case .users, .audience, .selected, .user, .device, .devices: nil
        }
    }

    /// Takes out the kinds of devices that the key or the payload does not allow. If none is left, throws why: the caller is to correct this
    /// first.
    ///
    /// - Returns: what is sent to each of the others, where it is the same for all of a kind.
    @discardableResult
    func skipRefused(
        _ devices: inout [PayloadKind: Int],
        apps: KeyApps,
        check: SendStore.PayloadCheck,
        _ tally: inout SkippedTally
    ) throws(Problem) -> [PayloadKind: PushMessage] {
        var messages: [PayloadKind: PushMessage] = [:]
        for (kind, count) in devices.sorted(by: { $0.key.order < $1.key.order }) {
            do throws(Problem) {
                if let refusal = apps.refusal(of: kind.app, pointer: pointer) { throw refusal }
                messages[kind] = try check(self, kind.provider, kind.platform, kind.app)
            } catch {
                devices[kind] = nil
                if devices.isEmpty { throw error }
                tally.skip(error, count: count)
            }
        }
        return messages
    }
}

/// What a payload's rules and a delivery's queue depend on.
struct PayloadKind: Hashable {
    var provider: Provider
    var platform: Platform
    var environment: PushEnvironment
    var app: String

    var order: (String, String, String, String) { (provider.rawValue, platform.rawValue, environment.rawValue, app) }

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
