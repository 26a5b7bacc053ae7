import Postgres
import PushContract

/// The queues there are; one is made when the first send needs it.
enum SendQueueRegistry {
    static let columns = "queue, app, provider, environment, class"

    struct Key: Hashable {
        var app: String
        var provider: Provider
        var environment: PushEnvironment
        var deliveryClass: DeliveryClass
    }

    /// The queues of these keys, made where missing.
    static func queues(for needed: [Key], on connection: BlockingConnection) throws -> [Key: Int32] {
        let keys = Set(needed)
        let apps = Array(Set(keys.map(\.app)))
        var known = try read(apps, on: connection)
        // In one order, as two batches may make the same queues at once.
        let missing = keys.filter { known[$0] == nil }.sorted { $0.order < $1.order }
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
        known = try read(apps, on: connection)
        return known
    }

    private static func read(_ apps: [String], on connection: BlockingConnection) throws -> [Key: Int32] {
        let queues = try connection.query("SELECT \(raw: columns) FROM pushQueues WHERE app = ANY(\(apps))").map(SendQueue.init)
        return Dictionary(uniqueKeysWithValues: queues.map { (Key($0), $0.id) })
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
    init(_ key: SendQueueRegistry.Key, id: Int32) {
        self.init(id: id, app: key.app, provider: key.provider, environment: key.environment, deliveryClass: key.deliveryClass)
    }

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
