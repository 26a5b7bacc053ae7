import Postgres
import PushContract

/// The ledger, cut into pieces of which one statement takes a moment. The statement's ledger is called `ledger`.
enum LedgerSlices {
    struct Slice: Sendable {
        var table: String
        var condition: Query
    }

    private static let pages: Int64 = 8_192

    /// By place in the file, which is read in its order; where tables are distributed, by stretches of keys.
    static func read(_ scope: FsckScope, _ context: FsckContext) async throws -> [Slice] {
        guard !scope.isDistributed else {
            return keys(estimate: scope.ledgerEstimate).map { keys in
                let generations: Query = "ledger.generation BETWEEN \(scope.generations.lowerBound) AND \(scope.generations.upperBound)"
                return Slice(table: "attemptLedger", condition: "\(within(keys, "ledger.attemptKey")) AND \(generations)")
            }
        }
        var slices: [Slice] = []
        for generation in scope.generations {
            let table = "attemptLedger_\(generation)"
            // A missing one is reported by the check of the partitions.
            let pieces = try await FilePieces.read(table, column: "ledger.ctid", pages: pages, on: context.pool)
            slices += (pieces ?? []).map { Slice(table: table, condition: $0) }
        }
        return slices
    }

    /// Stretches of keys, by their first 16 bits, of about 300,000 keys each.
    static func keys(estimate: Int64) -> [Range<Int>] {
        let count = Int(min(max(estimate / 300_000, 4), 65_536))
        return (0..<count).map { 65_536 * $0 / count..<65_536 * ($0 + 1) / count }
    }

    /// Keys whose first 16 bits are in the range; 65,536 is the end.
    static func within(_ keys: Range<Int>, _ column: String) -> Query {
        let from = key(keys.lowerBound)
        guard keys.upperBound < 65_536 else { return "\(raw: column) >= \(from)::uuid" }
        return "\(raw: column) >= \(from)::uuid AND \(raw: column) < \(key(keys.upperBound))::uuid"
    }

    private static func key(_ prefix: Int) -> String {
        let digits = String(prefix, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits + "0000-0000-0000-0000-000000000000"
    }
}
