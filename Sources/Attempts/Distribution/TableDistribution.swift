package import Postgres
import ServiceKit

/// Distributes attempts and ledger over the nodes that are registered with Citus: each table in one transaction, so that one that was
/// interrupted goes on with the next. Never automatically: an operator starts it.
///
/// A table is locked while its rows are copied: writers wait, and requests that wait for longer than 9 s get 503. Partitions and
/// generations that are attached later are distributed by Citus as their parent is.
package struct TableDistribution: Sendable {
    /// A table that is to be moved.
    package struct Step: Sendable, Equatable {
        package var table: DistributedTable
        /// Estimated from its size.
        package var rows: Int64
        /// With indexes.
        package var bytes: Int64
    }

    package enum Event: Sendable {
        case begins(Step)
        case ended(Step, after: Duration)
    }

    package struct Report: Sendable, Equatable {
        package var shards: Int
        package var workers: Int
        /// What was moved, or would be; empty: everything was distributed already.
        package var steps: [Step]
    }

    private static let lockRetry = TransactionRetry(
        attempts: 10,
        backoff: Backoff(base: .milliseconds(200), minimum: .milliseconds(100), cap: .milliseconds(1500))
    ) { $0.code == .lockNotAvailable || $0.code == .deadlock }

    private let configuration: PostgresConfiguration
    private let lockLimit: Duration

    /// - Parameters:
    ///   - configuration: of the coordinator, as the owner of the tables.
    ///   - lockLimit: how long one try waits for the writers of a table; others queue behind it meanwhile.
    package init(configuration: PostgresConfiguration, lockLimit: Duration = .seconds(3)) {
        var direct = configuration
        // Copying takes as long as it takes.
        direct.statementTimeout = .zero
        direct.callTimeout = nil
        direct.applicationName = "pushwatch distribute"
        self.configuration = direct
        self.lockLimit = lockLimit
    }

    /// Idempotent. Throws `DistributionRefusal` where nothing can be done.
    ///
    /// - Parameter shards: nil: what the ledger has, or twice the workers.
    @discardableResult
    package func distribute(
        shards: Int? = nil,
        isDryRun: Bool = false,
        onEvent: (Event) -> Void = { _ in }
    ) async throws -> Report {
        let connection = try await PostgresConnection.connect(configuration)
        let state = try await DistributionState.read(on: connection)
        let count = try state.check(shards: shards)
        var steps: [Step] = []
        for table in state.local {
            let step = try await measure(table, on: connection)
            steps.append(step)
            onEvent(.begins(step))
            if isDryRun { continue }
            let start = ContinuousClock.now
            try await move(table, shards: count, on: connection)
            onEvent(.ended(step, after: ContinuousClock.now - start))
        }
        return Report(shards: count, workers: state.workers.count, steps: steps)
    }

    private func measure(_ table: DistributedTable, on connection: PostgresConnection) async throws -> Step {
        let rows = try await connection.query(
            """
            SELECT coalesce(sum(greatest(0, pg_relation_size(oid) / \(raw: "\(table.bytesPerRow)"))), 0)::bigint,
                   coalesce(sum(pg_total_relation_size(oid)), 0)::bigint
            FROM pg_class WHERE relkind = 'r' AND oid IN (
                SELECT \(raw: "'\(table)'")::regclass UNION SELECT relid FROM pg_partition_tree(\(raw: "'\(table)'")))
            """
        )
        let (count, bytes) = try rows[0].decode((Int64, Int64).self)
        return Step(table: table, rows: count, bytes: bytes)
    }

    private func move(_ table: DistributedTable, shards: Int, on connection: PostgresConnection) async throws {
        do {
            try await TableDistribution.lockRetry.run {
                try await connection.withTransaction { transaction in
                    try await SchemaLock.acquire(on: transaction, limit: lockLimit)
                    // At once in full: a writer that has read the table and one that copies it would wait for each other.
                    try await transaction.execute("LOCK TABLE \(raw: "\(table)") IN ACCESS EXCLUSIVE MODE")
                    // Another run may have been quicker.
                    let state = try await DistributionState.read(on: transaction)
                    guard state.placements[table] == .local else { return }
                    _ = try await transaction.query(TableDistribution.statement(table, shards: shards, with: state.distributed?.table))
                    // The rows that were copied; without this they would stay on the disk.
                    _ = try await transaction.query("SELECT truncate_local_data_after_distributing_table(\(raw: "'\(table)'"))")
                }
            }
        } catch let error as PostgresError {
            throw await LockHolder.named(error, on: connection)
        }
    }

    private static func statement(_ table: DistributedTable, shards: Int, with other: DistributedTable?) -> Query {
        if table.isReference { return "SELECT create_reference_table(\(raw: "'\(table)'"))" }
        if let other {
            return "SELECT create_distributed_table(\(raw: "'\(table)'"), 'attemptkey', colocate_with => \(raw: "'\(other)'"))"
        }
        return """
            SELECT create_distributed_table(\(raw: "'\(table)'"), 'attemptkey', shard_count => \(raw: "\(shards)"), colocate_with => 'none')
            """
    }
}
