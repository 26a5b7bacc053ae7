import HTTPServer
import Postgres
import PushContract
import ServiceKit

/// The SQL of storing sends.
enum EnqueueQueries {
    /// Which of these sends are stored, with their content's hash and number of deliveries.
    static func known(_ sendIds: [String], on connection: BlockingConnection) throws -> [String: (hash: [UInt8], deliveries: Int)] {
        let rows = try connection.query(
            """
            SELECT sendId, contentHash, (SELECT count(*) FROM pushDeliveries d WHERE d.sendId = s.sendId)
            FROM pushSends s WHERE sendId = ANY(\(sendIds))
            """
        )
        var known: [String: (hash: [UInt8], deliveries: Int)] = [:]
        for row in rows {
            let (sendId, hash, deliveries) = try row.decode((String, [UInt8], Int).self)
            known[sendId] = (hash, deliveries)
        }
        return known
    }

    /// A send to store, with who asked for it.
    struct Entry {
        var send: SendRequest
        var deliveryClass: DeliveryClass
        var request: (requestId: String, author: String)
    }

    /// A delivery to store.
    struct NewRow {
        var sendId: String
        var delivery: NewDelivery
        var queue: Int32
    }

    /// Inserts sends; which were new.
    static func insert(_ entries: [Entry], now: Timestamp, on connection: BlockingConnection) throws -> Set<String> {
        guard !entries.isEmpty else { return [] }
        let sends = entries.map(\.send)
        let rows = try connection.query(
            """
            INSERT INTO pushSends (sendId, contentHash, requestId, author, content, class, policy, createdAt, notBefore, expiresAt)
            SELECT sendId, contentHash, requestId, author, content::jsonb, class::pushClass, policy::pushPolicy, \(now), notBefore, expiresAt
            FROM unnest(\(sends.map(\.sendId)), \(sends.map(\.contentHash) as [[UInt8]]), \(entries.map(\.request.requestId)),
                \(entries.map(\.request.author)), \(sends.map(\.content.json.text)),
                \(entries.map(\.deliveryClass.rawValue)), \(sends.map(\.policy.rawValue)), \(sends.map(\.notBefore)), \(sends.map(\.expiresAt)))
                AS t(sendId, contentHash, requestId, author, content, class, policy, notBefore, expiresAt)
            ON CONFLICT (sendId) DO NOTHING
            RETURNING sendId
            """
        )
        return Set(try rows.map { try $0.decode(String.self) })
    }

    /// Inserts deliveries and puts each where it waits: ready, or scheduled when its send is not due.
    static func insertWaiting(_ rows: [NewRow], now: Timestamp, on connection: BlockingConnection) throws {
        guard !rows.isEmpty else { return }
        try connection.execute(
            """
            WITH stored AS (\(insert(rows, now: now))), due AS (
                SELECT deliveryId, queue, notBefore, coalesce(notBefore > clock_timestamp(), false) AS later
                FROM stored JOIN pushSends USING (sendId)
            ), scheduled AS (
                INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber)
                SELECT deliveryId, queue, notBefore, 1 FROM due WHERE later
            )
            INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
            SELECT queue, deliveryId, 1, clock_timestamp() FROM due WHERE NOT later ORDER BY deliveryId
            """
        )
    }

    /// Inserts deliveries that are leased in the same transaction; their ids.
    static func insertDirect(_ rows: [NewRow], now: Timestamp, on connection: BlockingConnection) throws -> [Int64] {
        try connection.query(insert(rows, now: now)).map { try $0.decode((Int64, Int32, String).self).0 }
    }

    private static func insert(_ rows: [NewRow], now: Timestamp) -> Query {
        let deliveries = rows.map(\.delivery)
        return """
            INSERT INTO pushDeliveries
                (sendId, queue, uid, deviceId, platform, provider, environment, app, pushToken, tokenHash, createdAt)
            SELECT sendId, queue, uid, deviceId, platform::pushPlatform, provider::pushProvider, environment::pushEnvironment, app,
                pushToken, tokenHash, \(now)
            FROM unnest(\(rows.map(\.sendId)), \(rows.map(\.queue)), \(deliveries.map(\.uid)), \(deliveries.map(\.deviceId)),
                \(deliveries.map(\.platform.rawValue)), \(deliveries.map(\.provider.rawValue)),
                \(deliveries.map(\.environment.rawValue)), \(deliveries.map(\.app)),
                \(deliveries.map(\.token?.encrypted)), \(deliveries.map(\.token?.hash)))
                AS t(sendId, queue, uid, deviceId, platform, provider, environment, app, pushToken, tokenHash)
            RETURNING deliveryId, queue, sendId
            """
    }
}
