import Postgres
import PushContract

/// The queues there are; one is made when the first send needs it.
enum SendQueueRegistry {
    static let columns = "queue, app, provider, environment, class"

    struct Key: Hashable {
        @ExactText var app: String
        var provider: Provider
        var environment: PushEnvironment
        var deliveryClass: DeliveryClass
    }

    /// What a delivery is stored under has to be there: nobody would look for it in another place.
    struct NoQueue: Error, CustomStringConvertible {
        let key: Key

        var description: String { "pushQueues has no row for \(key.app), \(key.provider), \(key.environment), \(key.deliveryClass)" }
    }

    /// Queues by their keys.
    struct Found {
        fileprivate var queues: [Key: SendQueue]

        func queue(_ key: Key) throws(NoQueue) -> SendQueue {
            guard let queue = queues[key] else { throw NoQueue(key: key) }
            return queue
        }
    }

    /// The queues of these keys, made where missing.
    static func queues(for needed: [Key], on connection: BlockingConnection) throws -> Found {
        let keys = Set(needed)
        let apps = keys.map(\.app)
        let known = try read(apps, on: connection)
        // In one order, as two batches may make the same queues at once.
        let missing = keys.filter { known.queues[$0] == nil }.sorted { $0.order < $1.order }
        guard !missing.isEmpty else { return known }
        try connection.execute(
            """
            INSERT INTO pushQueues (app, provider, environment, class)
            SELECT app, provider::pushProvider, environment::pushEnvironment, class::pushClass
            FROM unnest(\(missing.map(\.app)), \(missing.map(\.provider.rawValue)), \(missing.map(\.environment.rawValue)),
                \(missing.map(\.deliveryClass.rawValue))) AS t(app, provider, environment, class)
            ON CONFLICT DO NOTHING
            """
        )
        return try read(apps, on: connection)
    }

    private static func read(_ apps: [String], on connection: BlockingConnection) throws -> Found {
        // A subquery, so that one plan serves every array: without it PostgreSQL makes a plan for each, which takes six times as long as
        // the look-up.
        let queues = try connection.query("SELECT \(raw: columns) FROM pushQueues WHERE app = ANY(ARRAY(SELECT unnest(\(apps))))")
            .map(SendQueue.init)
        return Found(queues: Dictionary(uniqueKeysWithValues: queues.map { (Key($0), $0) }))
    }
}

extension SendQueueRegistry.Key {
    init(_ queue: SendQueue) {
        self.init(app: queue.app, provider: queue.provider, environment: queue.environment, deliveryClass: queue.deliveryClass)
    }

    fileprivate var order: (String, String, String, String) {
        (app, provider.rawValue, environment.rawValue, deliveryClass.rawValue)
    }
}

extension SendQueue {
    init(_ row: Row) throws {
        let (id, app, provider, environment, deliveryClass) = try row.decode((Int32, String, String, String, String).self)
        self.init(
            id: id,
            app: app,
            provider: try stored(provider),
            environment: try stored(environment),
            deliveryClass: try stored(deliveryClass)
        )
    }
}
