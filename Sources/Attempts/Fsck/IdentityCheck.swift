import Postgres
import PushContract

/// Each attempt stands under the key of its id, and no id was new twice.
struct IdentityCheck: FsckCheck {
    let name = "identity"

    func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let slices = try await FactSlices.read(context).within(context.days, before: context.now)
        let ranges = try await sharedRanges(context)
        let total = slices.count + ranges.count
        var faults: [FsckFault] = []
        for (done, slice) in slices.enumerated() {
            context.progress(done, of: total)
            faults += try await misplaced(slice, context)
        }
        for (done, keys) in ranges.enumerated() {
            context.progress(slices.count + done, of: total)
            faults += try await context.confirmed { try await newTwice(keys, context) }
        }
        return [
            FsckReport.Line(
                name,
                "each attempt stands under the key of its id, and no id was new twice",
                examined: "attempts of \(context.days) days, the whole ledger",
                faults: faults
            )
        ]
    }

    private func misplaced(_ slice: Range<Timestamp>, _ context: FsckContext) async throws -> [FsckFault] {
        try await context.look(
            """
            SELECT attemptId, attemptedAt FROM notificationDeliveryAttempts
            WHERE attemptedAt >= \(slice.lowerBound) AND attemptedAt < \(slice.upperBound)
              AND uuid_send(attemptKey) <> substring(sha256(convert_to(attemptId, 'UTF8')) FOR 16)
            LIMIT 100
            """
        ).map { row in
            let (id, at) = try row.decode((String, Timestamp).self)
            return FsckFault("attempt \(id) of \(at) stands under a key that is not its id's")
        }
    }

    /// Stretches of keys to look for in all generations; none when fewer than two have keys.
    private func sharedRanges(_ context: FsckContext) async throws -> [Range<Int>] {
        let scope = try await FsckScope.read(context)
        var count = 0
        for generation in scope.generations {
            let rows = try await context.look("SELECT 1 FROM attemptLedger WHERE generation = \(generation) LIMIT 1")
            if !rows.isEmpty { count += 1 }
        }
        return count < 2 ? [] : LedgerSlices.keys(estimate: scope.ledgerEstimate)
    }

    private func newTwice(_ keys: Range<Int>, _ context: FsckContext) async throws -> [FsckFault] {
        let scope = try await FsckScope.read(context)
        return try await context.look(
            """
            SELECT attemptKey::text FROM attemptLedger
            WHERE \(LedgerSlices.within(keys, "attemptKey")) AND generation BETWEEN \(scope.generations.lowerBound) AND \(scope.generations.upperBound)
            GROUP BY attemptKey HAVING count(*) > 1 ORDER BY 1 LIMIT 100
            """
        ).map { row in
            let key = try row.decode(String.self)
            return FsckFault("key \(key) is in two generations of the ledger: its id was new twice")
        }
    }
}
