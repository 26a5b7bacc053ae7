import Postgres
import PushContract

extension SendStore {
    /// Takes over leases that ran out; how many.
    ///
    /// Whether those attempts reached the provider is unknown, and their rows say so. An at_least_once delivery becomes ready again with its
    /// next attempt; an at_most_once one ends. The lease goes in the same transaction, so a worker that comes back late changes nothing.
    package func reap(limit: Int = 500) async throws -> Int {
        try await LostAttempts(pool: pool, record: record).settle { connection in
            let abandoned = try connection.query(ReapQueries.take(limit: limit)).map(AbandonedDelivery.init)
            try ReapQueries.putBack(abandoned.filter { $0.verdict == .again }, on: connection)
            try ReapQueries.bury(abandoned.filter { $0.verdict != .again }, on: connection)
            return abandoned.map(\.attempt)
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
    /// There was a token to send to.
    var wasAttempted: Bool { attempt.identity != nil }

    init(_ row: Row) throws {
        let values = try row.decode(
            (
                Int64, Int32, Int32, String?, Timestamp, Timestamp, String, String, String?, String, String, String, String, String,
                Timestamp, String
            ).self
        )
        deliveryId = values.0
        queue = values.1
        attemptNumber = Int(values.2)
        let policy: DeliveryPolicy = try stored(values.13)
        guard let hash: TokenHash = try values.3.map({ try stored($0) }) else {
            verdict = .dead(.unreachable)
            attempt = LostAttempt(nil, startedAt: values.4)
            return
        }
        var identity = AttemptIdentity(
            uid: values.7,
            platform: try stored(values.9),
            provider: try stored(values.10),
            environment: try stored(values.11),
            app: values.12,
            tokenHash: hash,
            operationKey: ClaimedDelivery.operationKey(sendId: values.6, deviceId: values.8, tokenHash: hash),
            attemptNumber: attemptNumber,
            requestId: values.15
        )
        identity.sendId = values.6
        attempt = LostAttempt(identity, startedAt: values.4)
        if policy == .atMostOnce {
            verdict = .dead(.failed)
        } else {
            verdict = values.14 <= values.5 ? .dead(.expired) : .again
        }
    }
}

enum ReapQueries {
    static func take(limit: Int) -> Query {
        """
        WITH late AS MATERIALIZED (
            SELECT deliveryId FROM pushLeases WHERE leaseUntil <= clock_timestamp()
            ORDER BY leaseUntil LIMIT \(raw: String(limit)) FOR UPDATE SKIP LOCKED
        ), taken AS (
            DELETE FROM pushLeases l USING late WHERE l.deliveryId = late.deliveryId
            RETURNING l.deliveryId, l.queue, l.attemptNumber, l.tokenHash, l.claimedAt
        )
        SELECT t.deliveryId, t.queue, t.attemptNumber, t.tokenHash, t.claimedAt, clock_timestamp(), d.sendId, d.uid, d.deviceId,
            d.platform, d.provider, d.environment, d.app, s.policy, s.expiresAt, s.requestId
        FROM taken t JOIN pushDeliveries d ON d.deliveryId = t.deliveryId JOIN pushSends s ON s.sendId = d.sendId
        ORDER BY t.deliveryId
        """
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

    static func bury(_ deliveries: [AbandonedDelivery], on connection: BlockingConnection) throws {
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
