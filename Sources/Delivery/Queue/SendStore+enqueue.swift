package import HTTPServer
package import Postgres
package import Providers
package import PushContract

extension SendStore {
    /// A delivery's payload as the provider would see it is checked before it is stored. What it returns is sent to each device; nil: what
    /// is sent is made for each delivery.
    package typealias PayloadCheck = @Sendable (SendRequest, PayloadKind) throws(Problem) -> PushMessage?

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

    /// Which of these sends are stored.
    func known(_ sendIds: [String]) async throws -> Set<String> {
        Set(try await pool.query("SELECT sendId FROM pushSends WHERE sendId = ANY(\(sendIds))").map { try $0.decode(String.self) })
    }

    /// The same for several callers in one transaction, which succeeds or fails for all. No two may name the same send.
    ///
    /// - Parameters:
    ///   - direct: what may be leased at once rather than wait in the queue.
    ///   - lockLimit: throws `lockNotAvailable` when a lock is waited for longer; nil: as long as a statement may take.
    /// - Returns: the receipts of each.
    func enqueue(
        _ posts: [SendPost],
        direct: DirectLeases? = nil,
        lockLimit: Duration? = nil,
        check: @escaping PayloadCheck
    ) async throws -> [[SendReceipt]] {
        guard posts.contains(where: { !$0.requests.isEmpty }) else { return posts.map { _ in [] } }
        let retry = lockLimit == nil ? TransactionRetry.conflicts : .conflicts.except(.lockNotAvailable)
        return try await pool.performTransaction(retrying: retry) {
            [cipher, texts, bulkThreshold, expectation, fanOutSizes] connection in
            direct?.reset()
            if let lockLimit {
                try connection.executeLater("SET LOCAL lock_timeout = \(raw: String(lockLimit.microseconds / 1000))")
            }
            var enqueueing = Enqueueing(
                posts,
                cipher: cipher,
                bulkThreshold: bulkThreshold,
                expectation: expectation,
                fanOutSizes: fanOutSizes,
                on: connection
            )
            try enqueueing.admit(check: check)
            try enqueueing.store(direct: direct, texts: texts)
            return enqueueing.receipts
        }
    }
}

extension SendStore {
    /// Stores one send of a feature above, in its transaction.
    ///
    /// - Parameter cipher: with keys if its target names tokens.
    package static func enqueue(
        _ request: SendRequest,
        requestId: String,
        author: String,
        cipher: TokenCipher = .withoutKeys,
        now: Timestamp,
        fanOutSizes: FanOutSizes = FanOutSizes(),
        check: PayloadCheck,
        on connection: BlockingConnection
    ) throws -> SendReceipt {
        let post = SendPost(requests: [request], requestId: requestId, author: author, apps: .all, now: now)
        var enqueueing = Enqueueing([post], cipher: cipher, bulkThreshold: .max, fanOutSizes: fanOutSizes, on: connection)
        try enqueueing.admit(check: check)
        try enqueueing.store()
        return enqueueing.receipts[0][0]
    }

    /// Whether one of these sends is not stored to its end, and has not expired.
    package static func isStoring(_ sendIds: [String], on connection: BlockingConnection) throws -> Bool {
        try connection.query(FanOutQueries.isStoring(sendIds))[0].decode(Bool.self)
    }
}
