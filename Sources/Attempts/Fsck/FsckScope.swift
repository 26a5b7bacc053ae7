import Postgres
import PushContract

/// What of the ledger the attempts are compared with, read anew before each second look: a rotation may have come between.
struct FsckScope: Sendable {
    /// Attempts received from here on must be in the ledger.
    var ledgerSince: Timestamp
    var previous: Int32
    var current: Int32
    /// Roughly how many ids the ledger has.
    var ledgerEstimate: Int64
    /// The tables are spread over several servers.
    var isDistributed: Bool

    /// The ledger's older generation goes back at least one generation's length before the last rotation.
    static func read(_ context: FsckContext) async throws -> FsckScope {
        let rows = try await context.pool.query(
            """
            SELECT rotatedAt, previousGeneration, currentGeneration,
                   (SELECT coalesce(sum(greatest(child.reltuples, pg_relation_size(child.oid) / 80, 0)), 0)::bigint FROM pg_inherits
                    JOIN pg_class AS child ON child.oid = inhrelid WHERE inhparent = 'attemptLedger'::regclass),
                   EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
            FROM ledgerState WHERE id = 1
            """
        )
        guard let row = rows.first else { throw PostgresError(.decoding, "ledgerState is empty: run `pushwatch migrate`") }
        let (rotatedAt, previous, current, estimate, isDistributed) = try row.decode((Timestamp, Int32, Int32, Int64, Bool).self)
        return FsckScope(
            // An hour for servers whose clocks differ.
            ledgerSince: rotatedAt - .seconds(context.plan.generationDays * 86_400 - 3600),
            previous: previous,
            current: current,
            ledgerEstimate: estimate,
            isDistributed: isDistributed
        )
    }
}
