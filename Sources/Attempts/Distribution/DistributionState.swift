import Postgres

/// The nodes and the placement of the tables, as Citus's catalogue says, and what of it prevents a distribution.
struct DistributionState: Sendable {
    struct Node: Sendable {
        var name: String
        /// 0: the coordinator.
        var group: Int32
        var takesShards: Bool

        var isCoordinator: Bool { group == 0 }
    }

    enum Placement: Sendable, Equatable {
        case local
        case reference
        case distributed(column: String, colocation: Int32, shards: Int)
        case other
    }

    var ownGroup: Int32
    /// Those in use.
    var nodes: [Node]
    /// Nil: there is no such table.
    var placements: [DistributedTable: Placement]

    /// The nodes that shards go to.
    var workers: [Node] { nodes.filter { !$0.isCoordinator && $0.takesShards } }

    /// One that is distributed, with the number of its shards: the others follow it.
    var distributed: (table: DistributedTable, shards: Int)? {
        for table in DistributedTable.allCases {
            if case .distributed(_, _, let shards) = placements[table] { return (table, shards) }
        }
        return nil
    }

    /// Tables that are still to be distributed, in this order.
    var local: [DistributedTable] { DistributedTable.allCases.filter { placements[$0] == .local } }

    static func read(on session: some PostgresSession) async throws -> DistributionState {
        guard try await DatabaseEngine.hasExtension(on: session) else {
            throw DistributionRefusal(
                .noExtension,
                "This database has no extension citus. On each server install Citus, add it to shared_preload_libraries, restart, and run "
                    + "CREATE EXTENSION citus in this database (docs/citus.md). One PostgreSQL needs none of this."
            )
        }
        let group = try await session.query("SELECT groupid FROM pg_dist_local_group")[0].decode(Int32.self)
        let nodes = try await session.query(
            """
            SELECT nodename || ':' || nodeport, groupid, shouldhaveshards FROM pg_dist_node
            WHERE isactive AND noderole = 'primary' ORDER BY groupid
            """
        ).map { row in
            let (name, group, takesShards) = try row.decode((String, Int32, Bool).self)
            return Node(name: name, group: group, takesShards: takesShards)
        }
        var placements: [DistributedTable: Placement] = [:]
        for table in DistributedTable.allCases { placements[table] = try await placement(of: table, on: session) }
        return DistributionState(ownGroup: group, nodes: nodes, placements: placements)
    }

    private static func placement(of table: DistributedTable, on session: some PostgresSession) async throws -> Placement? {
        let rows = try await session.query(
            """
            SELECT partmethod::text, repmodel::text, colocationid, column_to_column_name(logicalrelid, partkey),
                   (SELECT count(*) FROM pg_dist_shard WHERE pg_dist_shard.logicalrelid = pg_class.oid)
            FROM pg_class LEFT JOIN pg_dist_partition ON logicalrelid = pg_class.oid
            WHERE pg_class.oid = to_regclass(\(table.rawValue))
            """
        )
        guard let row = rows.first else { return nil }
        let (method, model, colocation, column, shards) = try row.decode((String?, String?, Int32?, String?, Int).self)
        switch (method, model) {
        case (nil, _): return .local
        case ("n", "t"): return .reference
        case ("h", _): return .distributed(column: column ?? "", colocation: colocation ?? 0, shards: shards)
        default: return .other
        }
    }

    /// What prevents a distribution, as an error that says what to do. Pure.
    ///
    /// - Parameter shards: as many are asked for; nil: twice the nodes.
    /// - Returns: in how many shards the tables are, or will be.
    func check(shards wanted: Int?) throws(DistributionRefusal) -> Int {
        guard ownGroup == 0 else {
            let coordinator = nodes.first(where: \.isCoordinator)?.name ?? "the server that knows the others"
            throw DistributionRefusal(.worker, "This is a worker. Tables are distributed on the coordinator: \(coordinator).")
        }
        guard DistributedTable.allCases.allSatisfy({ placements[$0] != nil }) else {
            throw DistributionRefusal(.notMigrated, "The database's schema is missing. Run `pushwatch migrate`, then this again.")
        }
        guard nodes.contains(where: \.isCoordinator) else {
            throw DistributionRefusal(
                .noCoordinator,
                "The coordinator is not among its nodes, so that workers cannot reach it. Run SELECT citus_set_coordinator_host('HOST', PORT), "
                    + "with the address that workers reach it at."
            )
        }
        guard workers.count >= 2 else {
            throw DistributionRefusal(
                .tooFewNodes,
                "Citus has \(workers.count == 0 ? "no worker" : "one worker") that may hold shards; at least two are needed. Run "
                    + "SELECT citus_add_node('HOST', PORT) for each, with the extension in its database of the same name."
            )
        }
        try checkPlacements()
        let shards = distributed?.shards
        if let shards, let wanted, shards != wanted {
            throw DistributionRefusal(
                .shardCount,
                "The tables have \(shards) shards. Run this without --shards; SELECT alter_distributed_table('attemptLedger', shard_count => "
                    + "\(wanted), cascade_to_colocated => true) changes their number and copies every row."
            )
        }
        let count = shards ?? wanted ?? 2 * workers.count
        guard count >= workers.count else {
            throw DistributionRefusal(
                .shardCount,
                "With \(count) \(count == 1 ? "shard" : "shards") some of the \(workers.count) workers would hold nothing. Ask for at least "
                    + "\(workers.count)."
            )
        }
        return count
    }

    private func checkPlacements() throws(DistributionRefusal) {
        var groups: Set<Int32> = []
        for table in DistributedTable.allCases {
            switch (placements[table], table.isReference) {
            case (.local, _), (.reference, true): continue
            case (.distributed("attemptkey", let colocation, _), false): groups.insert(colocation)
            default:
                throw DistributionRefusal(
                    .otherPlacement,
                    "\(table) is distributed in another way than \(table.isReference ? "as a reference table" : "by attemptKey"). Run "
                        + "SELECT undistribute_table('\(table)'), then this again."
                )
            }
        }
        guard groups.count < 2 else {
            throw DistributionRefusal(
                .otherPlacement,
                "attemptLedger and notificationDeliveryAttempts are not colocated. Run SELECT undistribute_table('attemptLedger'), then this "
                    + "again."
            )
        }
    }
}
