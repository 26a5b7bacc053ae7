import Postgres
import PushContract

/// What the checks compare, read anew before each second look: a rotation or an expiry may have come between.
struct FsckScope: Sendable {
    /// Attempts received from here on must be in the ledger.
    var ledgerSince: Timestamp
    /// Attempts made from here on must be among the facts, if the ledger has them.
    var factsSince: Timestamp
    /// Roughly how many ids the ledger has.
    var ledgerEstimate: Int64

    /// The ledger's older generation goes back at least one generation's length before the last rotation.
    static func read(plan: PartitionPlan, partitions: FsckPartitions, on session: some PostgresSession) async throws -> FsckScope {
        let rows = try await session.query(
            """
            SELECT rotatedAt, (SELECT coalesce(sum(greatest(child.reltuples, 0)), 0)::bigint FROM pg_inherits
                               JOIN pg_class AS child ON child.oid = inhrelid WHERE inhparent = 'attemptLedger'::regclass)
            FROM ledgerState WHERE id = 1
            """
        )
        guard let row = rows.first else { throw PostgresError(.decoding, "ledgerState is empty: run `pushwatch migrate`") }
        let (rotatedAt, estimate) = try row.decode(Timestamp.self, Int64.self)
        return FsckScope(
            // An hour for servers whose clocks differ.
            ledgerSince: rotatedAt - .seconds(plan.generationDays * 86_400 - 3600),
            factsSince: partitions.facts.map(\.from).min() ?? rotatedAt,
            ledgerEstimate: estimate
        )
    }
}
