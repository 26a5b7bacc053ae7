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

    /// Inserts sends; which were new.
    static func insert(
        _ entries: [(send: SendRequest, post: SendPost, deliveryClass: DeliveryClass)],
        now: Timestamp,
        on connection: BlockingConnection
    ) throws -> Set<String> {
        let sends = entries.map(\.send)
        let rows = try connection.query(
            """
            INSERT INTO pushSends (sendId, contentHash, requestId, author, content, class, policy, createdAt, notBefore, expiresAt)
            SELECT sendId, contentHash, requestId, author, content::jsonb, class::pushClass, policy::pushPolicy, \(now), notBefore, expiresAt
            FROM unnest(\(sends.map(\.sendId)), \(sends.map(\.contentHash) as [[UInt8]]), \(entries.map(\.post.requestId)),
                \(entries.map(\.post.author)), \(sends.map(\.content.json.text)), \(entries.map(\.deliveryClass.rawValue)),
                \(sends.map(\.policy.rawValue)), \(sends.map(\.notBefore)), \(sends.map(\.expiresAt)))
                AS t(sendId, contentHash, requestId, author, content, class, policy, notBefore, expiresAt)
            ON CONFLICT (sendId) DO NOTHING
            RETURNING sendId
            """
        )
        return Set(try rows.map { try $0.decode(String.self) })
    }

    /// Inserts deliveries and puts each where it waits: ready, or scheduled when its send is not due. The ids of those that are to be leased.
    static func insertDeliveries(
        _ entries: [WaitingDelivery],
        queues: [SendQueueRegistry.Key: Int32],
        now: Timestamp,
        on connection: BlockingConnection
    ) throws -> [Int64] {
        let direct = entries.filter(\.isDirect)
        let waiting = entries.filter { !$0.isDirect }
        if !waiting.isEmpty {
            _ = try insert(rows(waiting, queues: queues), of: waiting.map(\.send), now: now, on: connection)
        }
        guard !direct.isEmpty else { return [] }
        return try connection.query(store(rows(direct, queues: queues), now: now)).map { try $0.decode(Int64.self) }
    }

    private static func rows(_ entries: [WaitingDelivery], queues: [SendQueueRegistry.Key: Int32]) -> Query {
        let sends = entries.map(\.send)
        let deliveries = entries.map(\.delivery)
        return """
            SELECT sendId, queue, uid, deviceId, platform::pushPlatform AS platform, provider::pushProvider AS provider,
                environment::pushEnvironment AS environment, app, pushToken, tokenHash, collapseId, version
            FROM unnest(\(sends.map(\.sendId)), \(entries.map { queues[$0.queue] ?? 0 }), \(deliveries.map(\.uid)),
                \(deliveries.map(\.deviceId)), \(deliveries.map(\.platform.rawValue)), \(deliveries.map(\.provider.rawValue)),
                \(deliveries.map(\.environment.rawValue)), \(deliveries.map(\.app)), \(deliveries.map(\.token?.encrypted)),
                \(deliveries.map(\.token?.hash)), \(sends.map(\.content.collapseId)), \(sends.map(\.version)))
                AS t(sendId, queue, uid, deviceId, platform, provider, environment, app, pushToken, tokenHash, collapseId, version)
            """
    }

    /// Inserts deliveries of these sends; how many.
    static func insert(_ rows: Query, of sends: [SendRequest], now: Timestamp, on connection: BlockingConnection) throws -> Int {
        let mayBeLater = sends.contains { $0.notBefore != nil }
        guard sends.contains(where: { $0.content.collapseId != nil }) else {
            return try connection.query(insert(rows, mayBeLater: mayBeLater, now: now))[0].decode(Int.self)
        }
        let inserted = try connection.query(NewestQueries.insert(rows, mayBeLater: mayBeLater, now: now)).map {
            try $0.decode((Int, Int64?, Int32?).self)
        }
        let superseded = inserted.compactMap { row in row.1.map { (deliveryId: $0, attempts: Int(row.2 ?? 0)) } }
        try SendEvents.record(.superseded, superseded, on: connection)
        return inserted[0].0
    }

    /// Deliveries of which none replaces another; how many.
    private static func insert(_ rows: Query, mayBeLater: Bool, now: Timestamp) -> Query {
        """
        WITH stored AS (\(store(rows, now: now)), queue, sendId), \(waiting("stored", mayBeLater: mayBeLater))
        SELECT count(*) FROM stored
        """
    }

    private static func store(_ rows: Query, now: Timestamp) -> Query {
        """
        INSERT INTO pushDeliveries (sendId, queue, uid, deviceId, platform, provider, environment, app, pushToken, tokenHash, createdAt)
        SELECT sendId, queue, uid, deviceId, platform, provider, environment, app, pushToken, tokenHash, \(now) FROM (\(rows)) t
        RETURNING deliveryId
        """
    }

    /// Puts new deliveries where they wait.
    ///
    /// - Parameter mayBeLater: one of their sends has a `notBefore`. Otherwise no send is looked up.
    static func waiting(_ stored: Query, mayBeLater: Bool) -> Query {
        guard mayBeLater else {
            return """
                ready AS (
                    INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
                    SELECT queue, deliveryId, 1, clock_timestamp() FROM \(stored) ORDER BY deliveryId
                )
                """
        }
        return """
            due AS (
                SELECT deliveryId, queue, notBefore, coalesce(notBefore > clock_timestamp(), false) AS later
                FROM \(stored) JOIN pushSends USING (sendId)
            ), scheduled AS (
                INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber)
                SELECT deliveryId, queue, notBefore, 1 FROM due WHERE later
            ), ready AS (
                INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
                SELECT queue, deliveryId, 1, clock_timestamp() FROM due WHERE NOT later ORDER BY deliveryId
            )
            """
    }
}
