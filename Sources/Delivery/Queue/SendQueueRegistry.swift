import Postgres
import PushContract

/// The queues there are; one is made when the first send needs it.
enum SendQueueRegistry {
    struct Key: Hashable {
        var app: String
        var provider: Provider
        var isCritical: Bool
    }

    /// The queues of these keys, made where missing.
    static func queues(
        for needed: [(app: String, provider: Provider, isCritical: Bool)],
        on connection: BlockingConnection
    ) throws -> [Key: Int32] {
        let keys = Set(needed.map { Key(app: $0.app, provider: $0.provider, isCritical: $0.isCritical) })
        let apps = Array(Set(keys.map(\.app)))
        var known = try read(apps, on: connection)
        // In one order, as two batches may make the same queues at once.
        let missing = keys.filter { known[$0] == nil }.sorted { ($0.app, $0.provider.rawValue) < ($1.app, $1.provider.rawValue) }
        guard !missing.isEmpty else { return known }
        try connection.execute(
            """
            INSERT INTO pushQueues (app, provider, critical)
            SELECT app, provider::pushProvider, critical
            FROM unnest(\(missing.map(\.app)), \(missing.map(\.provider.rawValue)), \(missing.map(\.isCritical))) AS t(app, provider, critical)
            ON CONFLICT DO NOTHING
            """
        )
        known = try read(apps, on: connection)
        return known
    }

    private static func read(_ apps: [String], on connection: BlockingConnection) throws -> [Key: Int32] {
        let queues = try connection.query("SELECT queue, app, provider, critical FROM pushQueues WHERE app = ANY(\(apps))").map(
            SendQueue.init
        )
        return Dictionary(uniqueKeysWithValues: queues.map { (Key(app: $0.app, provider: $0.provider, isCritical: $0.isCritical), $0.id) })
    }
}

extension SendQueue {
    init(_ row: Row) throws {
        let (id, app, provider, isCritical) = try row.decode((Int32, String, String, Bool).self)
        self.init(id: id, app: app, provider: try stored(provider), isCritical: isCritical)
    }
}
