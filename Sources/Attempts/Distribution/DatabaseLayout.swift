package import Postgres

/// Where the rows of the database are: `pushwatch database status`.
package struct DatabaseLayout: Sendable, Encodable {
    package enum Engine: String, Sendable, Encodable { case postgresql, citus }

    package struct Node: Sendable, Encodable {
        package var name: String
        package var isCoordinator: Bool
        package var isActive: Bool
        package var takesShards: Bool
        /// Of the ledger; each is next to the one of the attempts with the same keys.
        package var shards: Int
        /// Of attempts and ledger, with indexes.
        package var bytes: Int64
        /// Of all nodes' bytes, from 0 to 1.
        package var share: Double
    }

    package var engine: Engine
    package var serverVersion: String
    /// Of the extension, also where nothing is distributed yet.
    package var citusVersion: String?
    package var shards: Int?
    package var distributedTables: [String] = []
    /// Everything in the database of the server that was asked, with the shards it holds itself.
    package var databaseBytes: Int64
    package var nodes: [Node] = []

    package static func read(on session: some PostgresSession) async throws -> DatabaseLayout {
        let engine = try await DatabaseEngine.read(on: session)
        let server = try await session.query(
            """
            SELECT current_setting('server_version'), pg_database_size(current_database()),
                   (SELECT extversion FROM pg_extension WHERE extname = 'citus')
            """
        )
        let (version, bytes, citus) = try server[0].decode((String, Int64, String?).self)
        var layout = DatabaseLayout(
            engine: engine.isDistributed ? .citus : .postgresql,
            serverVersion: String(version.prefix { $0 != " " }),
            citusVersion: citus,
            databaseBytes: bytes
        )
        guard try await DatabaseEngine.hasExtension(on: session) else { return layout }
        if case .citus(let shards) = engine { layout.shards = shards }
        layout.distributedTables = try await DistributionState.read(on: session).placements
            .filter { $0.value != .local }.map { "\($0.key)" }.sorted()
        layout.nodes = try await nodes(on: session)
        return layout
    }

    private static func nodes(on session: some PostgresSession) async throws -> [Node] {
        let sizes = try await session.query(
            """
            SELECT nodename || ':' || nodeport, coalesce(sum(shard_size), 0)::bigint,
                   count(*) FILTER (WHERE table_name = to_regclass('attemptLedger'))
            FROM citus_shards GROUP BY 1
            """
        ).map { try $0.decode((String, Int64, Int).self) }
        let all = max(1, sizes.reduce(0) { $0 + $1.1 })
        let rows = try await session.query(
            """
            SELECT nodename || ':' || nodeport, groupid = 0, isactive, shouldhaveshards FROM pg_dist_node
            WHERE noderole = 'primary' ORDER BY groupid
            """
        )
        return try rows.map { row in
            let (name, isCoordinator, isActive, takesShards) = try row.decode((String, Bool, Bool, Bool).self)
            let size = sizes.first { $0.0 == name }
            return Node(
                name: name,
                isCoordinator: isCoordinator,
                isActive: isActive,
                takesShards: takesShards,
                shards: size?.2 ?? 0,
                bytes: size?.1 ?? 0,
                share: Double(size?.1 ?? 0) / Double(all)
            )
        }
    }
}
