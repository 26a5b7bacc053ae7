import Postgres
import PushContract

/// What of the ledger the attempts are compared with, read anew before each second look: a rotation may have come between.
struct FsckScope: Sendable {
    /// Attempts received from here on must be in the ledger.
    var ledgerSince: Timestamp
    var generations: ClosedRange<Int32>
    /// Roughly how many ids the ledger has.
    var ledgerEstimate: Int64
    /// The tables are spread over several servers.
    var isDistributed: Bool

    /// Of an id in the ledger, with its index.
    private static let distributedBytes: Int64 = 136

    /// The ledger's oldest generation goes back at least eight days before the last rotation.
    static func read(_ context: FsckContext) async throws -> FsckScope {
        let rows = try await context.pool.query(
            """
            SELECT currentGeneration, frozenAt,
                   (SELECT coalesce(sum(greatest(child.reltuples, pg_relation_size(child.oid) / 80, 0)), 0)::bigint FROM pg_inherits
                    JOIN pg_class AS child ON child.oid = inhrelid WHERE inhparent = 'attemptLedger'::regclass)
            FROM ledgerState WHERE id = 1
            """
        )
        guard let row = rows.first else { throw PostgresError(.decoding, "ledgerState is empty: run `pushwatch migrate`") }
        let (current, frozenAt, estimate) = try row.decode((Int32, [Timestamp], Int64).self)
        let generations = LedgerGenerations(current: current, frozenAt: frozenAt)
        let sizes = try await DistributedSizes.read(on: context.pool)
        let distributed = sizes?.filter { $0.key.hasPrefix("attemptledger_") }.values.reduce(0, +)
        return FsckScope(
            // An hour for servers whose clocks differ.
            ledgerSince: generations.knownSince - .seconds(3600),
            generations: generations.oldest...current,
            ledgerEstimate: distributed.map { $0 / distributedBytes } ?? estimate,
            isDistributed: distributed != nil
        )
    }
}
