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
        return try await pool.performTransaction { [cipher] connection in
            var enqueueing = try Enqueueing(requests, cipher: cipher, on: connection, now: now)
            try enqueueing.admit(check: check)
            try enqueueing.store(requestId: requestId, author: author)
            return enqueueing.receipts
        }
    }
}

/// One batch on its way into the queue, inside its transaction.
private struct Enqueueing {
    private let requests: [SendRequest]
    private let cipher: TokenCipher
    private let connection: BlockingConnection
    private let now: Timestamp
    private var known: [String: (hash: [UInt8], deliveries: Int)]
    private var outcome: [SendReceipt?]
    private var deliveries: [Int: [NewDelivery]] = [:]
    /// Sends to many people, which are stored one by one.
    private var fanOuts: [Int: FanOut] = [:]
    private var fanOutKinds: [Int: [PayloadKind]] = [:]

    init(_ requests: [SendRequest], cipher: TokenCipher, on connection: BlockingConnection, now: Timestamp) throws {
        self.requests = requests
        self.cipher = cipher
        self.connection = connection
        self.now = now
        known = try EnqueueQueries.known(requests.map(\.sendId), on: connection)
        outcome = Array(repeating: nil, count: requests.count)
    }

    var receipts: [SendReceipt] { outcome.map { $0 ?? .conflict } }

    /// Decides on each request; what remains without an outcome is to be stored.
    mutating func admit(check: SendStore.PayloadCheck) throws {
        var first: [String: Int] = [:]
        for (index, request) in requests.enumerated() {
            if let stored = known[request.sendId] {
                outcome[index] = stored.hash == request.contentHash ? .duplicate(deliveries: stored.deliveries) : .conflict
            } else if let earlier = first[request.sendId] {
                outcome[index] = requests[earlier].contentHash == request.contentHash ? .duplicate(deliveries: 0) : .conflict
            } else {
                first[request.sendId] = index
            }
        }
        let open = requests.indices.filter { outcome[$0] == nil }
        let resolution = try TargetResolution(open.map { requests[$0] }, cipher: cipher, on: connection, now: now)
        for index in open {
            do {
                let found = try resolution.deliveries(for: requests[index])
                // A thousand devices of one app make one check.
                var kinds = Set(found.map(PayloadKind.init))
                if let fanOut = FanOut(requests[index], now: now) {
                    kinds = Set(try fanOut.kinds(on: connection))
                    guard !kinds.isEmpty else { throw FanOut.noRecipient(requests[index]) }
                    fanOuts[index] = fanOut
                }
                for kind in kinds {
                    if let problem = check(requests[index], kind.provider, kind.platform, kind.app) { throw problem }
                }
                fanOutKinds[index] = fanOuts[index] == nil ? nil : Array(kinds)
                deliveries[index] = found
            } catch let problem as Problem {
                outcome[index] = .refused(problem)
            }
        }
    }

    mutating func store(requestId: String, author: String) throws {
        // By id, so that two batches with the same ids wait for each other in one direction only.
        let open = deliveries.keys.sorted { requests[$0].sendId < requests[$1].sendId }
        guard !open.isEmpty else { return }
        let inserted = try EnqueueQueries.insert(open.map { requests[$0] }, requestId: requestId, author: author, now: now, on: connection)
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
        let entries = stored.flatMap { index in deliveries[index, default: []].map { (requests[index], $0) } }
        let kinds = stored.flatMap { index in fanOutKinds[index, default: []].map { ($0.app, $0.provider, requests[index].isCritical) } }
        let queues = try SendQueueRegistry.queues(for: entries.map { ($0.1.app, $0.1.provider, $0.0.isCritical) } + kinds, on: connection)
        try EnqueueQueries.insertDeliveries(entries, queues: queues, now: now, on: connection)
        for index in stored {
            let many = try fanOuts[index]?.store(requests[index], on: connection)
            outcome[index] = .accepted(deliveries: many ?? deliveries[index]?.count ?? 0)
        }
    }
}

/// What a payload's rules depend on.
struct PayloadKind: Hashable {
    var provider: Provider
    var platform: Platform
    var app: String

    init(provider: Provider, platform: Platform, app: String) {
        self.provider = provider
        self.platform = platform
        self.app = app
    }

    init(_ delivery: NewDelivery) {
        provider = delivery.provider
        platform = delivery.platform
        app = delivery.app
    }
}
