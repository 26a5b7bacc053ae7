package import Postgres
package import PushContract

/// A delivery of a `QueuedKind` to store.
package struct NewQueuedDelivery: Sendable {
    package var kind: String
    package var ownerKey: String
    package var uid: String
    package var deviceId: String
    package var platform: Platform
    package var provider: Provider
    package var environment: PushEnvironment
    package var app: String
    package var deliveryClass: DeliveryClass
    package var tokenHash: String
    /// The number of its first attempt: more than 1 where it goes on with the attempts of an earlier delivery.
    package var attemptNumber: Int
    /// After that it is not attempted.
    package var expiresAt: Timestamp

    package init(
        kind: String,
        ownerKey: String,
        uid: String,
        deviceId: String,
        platform: Platform,
        provider: Provider,
        environment: PushEnvironment,
        app: String,
        deliveryClass: DeliveryClass,
        tokenHash: String,
        attemptNumber: Int = 1,
        expiresAt: Timestamp
    ) {
        self.kind = kind
        self.ownerKey = ownerKey
        self.uid = uid
        self.deviceId = deviceId
        self.platform = platform
        self.provider = provider
        self.environment = environment
        self.app = app
        self.deliveryClass = deliveryClass
        self.tokenHash = tokenHash
        self.attemptNumber = attemptNumber
        self.expiresAt = expiresAt
    }
}

/// The way into the queue for features above.
package enum DeliveryQueue {
    /// Stores deliveries, ready to be claimed in this order, in the owner's transaction; their ids, in order.
    package static func enqueue(_ deliveries: [NewQueuedDelivery], now: Timestamp, on connection: BlockingConnection) throws -> [Int64] {
        let stored = try insert(deliveries, now: now, on: connection)
        guard !stored.isEmpty else { return [] }
        let ids = stored.map(\.deliveryId)
        try connection.execute(
            """
            INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
            SELECT queue, deliveryId, attemptNumber, clock_timestamp()
            FROM unnest(\(stored.map(\.queue)), \(ids), \(deliveries.map { Int32($0.attemptNumber) })) AS t(queue, deliveryId, attemptNumber)
            ORDER BY deliveryId
            """
        )
        return ids
    }

    /// Stores deliveries, which the caller puts into their place. In order.
    static func insert(
        _ deliveries: [NewQueuedDelivery],
        now: Timestamp,
        on connection: BlockingConnection
    ) throws -> [(deliveryId: Int64, queue: Int32)] {
        guard !deliveries.isEmpty else { return [] }
        let keys = deliveries.map {
            SendQueueRegistry.Key(app: $0.app, provider: $0.provider, environment: $0.environment, deliveryClass: $0.deliveryClass)
        }
        let queues = try SendQueueRegistry.queues(for: keys, on: connection)
        let queueIds = try keys.map { try queues.queue($0).id }
        let ids = try connection.query(
            """
            INSERT INTO pushDeliveries (kind, ownerKey, queue, uid, deviceId, platform, tokenHash, expiresAt, createdAt)
            SELECT kind, ownerKey, queue, uid, deviceId, platform::pushPlatform, decode(substring(tokenHash FROM 8), 'hex'), expiresAt, \(now)
            FROM unnest(\(deliveries.map(\.kind)), \(deliveries.map(\.ownerKey)), \(queueIds), \(deliveries.map(\.uid)),
                \(deliveries.map(\.deviceId)), \(deliveries.map(\.platform.rawValue)), \(deliveries.map(\.tokenHash)),
                \(deliveries.map(\.expiresAt)))
                WITH ORDINALITY AS t(kind, ownerKey, queue, uid, deviceId, platform, tokenHash, expiresAt, place)
            ORDER BY place
            RETURNING deliveryId
            """
        ).map { try $0.decode(Int64.self) }
        return zip(ids, queueIds).map { (deliveryId: $0, queue: $1) }
    }
}
