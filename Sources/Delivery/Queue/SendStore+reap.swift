import Postgres
package import PushContract

extension SendStore {
    /// Takes over the deliveries of leases that ran out (after `since`, if it is given); how many.
    ///
    /// Whether those attempts reached the provider is unknown, and their rows say so. An at_least_once delivery becomes ready again with
    /// its next attempt; an at_most_once one ends. The lease goes in the same transaction, so a worker that comes back late changes
    /// nothing.
    package func reap(since: Timestamp? = nil) async throws -> Int {
        var count = 0
        while true {
            let reaped = try await LostAttempts(pool: pool, record: record).settle { [kinds] connection in
                let abandoned = try ReapQueries.take(since: since, on: connection).map { try AbandonedDelivery($0, kinds: kinds) }
                try ReapQueries.putBack(abandoned.filter { $0.verdict == .again }, on: connection)
                try ReapQueries.deadLetter(abandoned.filter { $0.verdict != .again }, on: connection)
                try SendEvents.record(abandoned.compactMap(\.event), on: connection)
                try kinds.apply(abandoned.compactMap(\.queued), on: connection)
                return abandoned.map(\.attempt)
            }
            guard reaped > 0 else { return count }
            count += reaped
        }
    }
}

/// A delivery whose worker did not come back in time.
struct AbandonedDelivery {
    enum Verdict: Hashable {
        case again
        case dead(DeadOutcome)
    }

    var deliveryId: Int64
    var queue: Int32
    var attemptNumber: Int
    var verdict: Verdict
    var attempt: LostAttempt
    /// What it means for the owner of a delivery of a `QueuedKind`.
    var queued: QueuedOutcome?
    /// There was a token to send to.
    var wasAttempted: Bool { attempt.identity != nil }

    /// What its sender learns; nil for a delivery of a `QueuedKind`.
    var event: DeliveryEvent? {
        guard queued == nil else { return nil }
        let event: SendEvent = if case .dead(let outcome) = verdict { outcome.event } else { .attemptFailed }
        return DeliveryEvent(
            deliveryId: deliveryId,
            event: event,
            attempts: wasAttempted ? attemptNumber : attemptNumber - 1,
            attempt: attempt.identity.map { Attempt($0, .lost, at: attempt.startedAt) }
        )
    }

    init(_ row: Row, kinds: QueuedKinds) throws {
        let values = try row.decode(
            (
                Int64, Int32, Int32, String?, Timestamp, Timestamp, String?, String, String?, String, String, String, String, String?,
                Timestamp, String?, String?, String?
            ).self
        )
        deliveryId = values.0
        queue = values.1
        attemptNumber = Int(values.2)
        guard let hash: TokenHash = try values.3.map({ try stored($0) }) else {
            verdict = .dead(.unreachable)
            attempt = LostAttempt(nil, startedAt: values.4)
            return
        }
        if let name = values.16, let kind = kinds[name], let ownerKey = values.17, let deviceId = values.8 {
            let delivery = QueuedDelivery(
                deliveryId: deliveryId,
                kind: name,
                ownerKey: ownerKey,
                uid: values.7,
                deviceId: deviceId,
                app: values.12,
                environment: try stored(values.11),
                tokenHash: hash,
                attemptNumber: attemptNumber
            )
            attempt = LostAttempt(kind.identity(of: delivery), startedAt: values.4)
            verdict = AbandonedDelivery.verdict(kind.policy, expiresAt: values.14, now: values.5)
            queued = QueuedOutcome(delivery: delivery, attempt: .lost, next: next(at: values.5))
            return
        }
        let policy: DeliveryPolicy = try values.13.map { try stored($0) } ?? .atMostOnce
        var identity = AttemptIdentity(
            uid: values.7,
            platform: try stored(values.9),
            provider: try stored(values.10),
            environment: try stored(values.11),
            app: values.12,
            tokenHash: hash,
            operationKey: ClaimedDelivery.operationKey(sendId: values.6 ?? "", deviceId: values.8, tokenHash: hash),
            attemptNumber: attemptNumber,
            requestId: values.15 ?? ""
        )
        identity.sendId = values.6
        attempt = LostAttempt(identity, startedAt: values.4)
        verdict = AbandonedDelivery.verdict(policy, expiresAt: values.14, now: values.5)
    }

    private static func verdict(_ policy: DeliveryPolicy, expiresAt: Timestamp, now: Timestamp) -> Verdict {
        if policy == .atMostOnce { return .dead(.failed) }
        return expiresAt <= now ? .dead(.expired) : .again
    }

    private func next(at now: Timestamp) -> DeliveryNext {
        switch verdict {
        case .again: .retry(at: now, after: .network)
        case .dead(let outcome): .dead(outcome, reason: .network, providerErrorCode: Attempt.unknownOutcomeCode)
        }
    }
}

enum ReapQueries {
    /// Leases of one transaction. None has more deliveries than an instance has slots.
    private static let limit = 4

    /// In two statements: until the leases are locked, outcomes of some of their deliveries may be written. The second sees them all.
    static func take(since: Timestamp?, on connection: BlockingConnection) throws -> [Row] {
        let late = try connection.query(
            """
            SELECT leaseToken FROM pushLeases
            WHERE leaseUntil <= statement_timestamp() AND leaseUntil >= coalesce(\(since), timestamptz '-infinity')
            ORDER BY leaseUntil LIMIT \(raw: String(limit)) FOR UPDATE SKIP LOCKED
            """
        ).map { try $0.decode(Int64.self) }
        guard !late.isEmpty else { return [] }
        return try connection.query(
            """
            WITH taken AS (DELETE FROM pushLeases WHERE leaseToken = ANY(\(late)))
            SELECT l.deliveryId, l.queue, l.attemptNumber, l.tokenHash, l.claimedAt, clock_timestamp(), d.sendId, d.uid, d.deviceId,
                d.platform, q.provider, q.environment, q.app, s.policy, coalesce(s.expiresAt, d.expiresAt), s.requestId, d.kind, d.ownerKey
            FROM pushLeasedDeliveries l JOIN pushDeliveries d USING (deliveryId) JOIN pushQueues q ON q.queue = d.queue
                LEFT JOIN pushSends s USING (sendId)
            WHERE l.leaseToken = ANY(\(late)) AND (s.sendId IS NOT NULL OR d.kind IS NOT NULL)
            ORDER BY l.deliveryId
            """
        )
    }

    static func putBack(_ deliveries: [AbandonedDelivery], on connection: BlockingConnection) throws {
        guard !deliveries.isEmpty else { return }
        try connection.execute(
            """
            INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
            SELECT queue, deliveryId, attemptNumber + 1, clock_timestamp()
            FROM unnest(\(deliveries.map(\.queue)), \(deliveries.map(\.deliveryId)), \(deliveries.map(\.attemptNumber)))
                AS t(queue, deliveryId, attemptNumber)
            """
        )
    }

    static func deadLetter(_ deliveries: [AbandonedDelivery], on connection: BlockingConnection) throws {
        guard !deliveries.isEmpty else { return }
        let outcomes = deliveries.map { delivery -> String in
            if case .dead(let outcome) = delivery.verdict { outcome.rawValue } else { DeadOutcome.failed.rawValue }
        }
        let attemptCounts = deliveries.map { $0.wasAttempted ? $0.attemptNumber : $0.attemptNumber - 1 }
        try connection.execute(
            """
            INSERT INTO pushDead (deliveryId, queue, outcome, attempts, reasonCode, providerErrorCode, finishedAt)
            SELECT deliveryId, queue, outcome, attempts, reason::pushReason, code, clock_timestamp()
            FROM unnest(\(deliveries.map(\.deliveryId)), \(deliveries.map(\.queue)), \(outcomes), \(attemptCounts),
                \(deliveries.map { $0.wasAttempted ? ReasonCode.network.rawValue : nil }),
                \(deliveries.map { $0.wasAttempted ? Attempt.unknownOutcomeCode : nil }))
                AS t(deliveryId, queue, outcome, attempts, reason, code)
            """
        )
    }
}
