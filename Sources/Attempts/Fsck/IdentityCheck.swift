import Postgres
import PushContract

/// Each attempt is stored under the key of its id, and no id was new twice: within the ledger, and within each piece of time.
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
            faults += try await storedTwice(slice, context)
        }
        for (done, keys) in ranges.enumerated() {
            context.progress(slices.count + done, of: total)
            faults += try await context.confirmed { try await newTwice(keys, context) }
        }
        return [
            FsckReport.Line(
                name,
                "each attempt is stored under the key of its id, and no id was new twice",
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
            return FsckFault("attempt \(id) of \(at) is stored under a key that is not its id's")
        }
    }

    /// Ids that have more than one row in a piece of time, also those that the ledger has forgotten: what comes again after that has about
    /// the same stamp. Rows further apart would take a second pass over all attempts.
    private func storedTwice(_ slice: Range<Timestamp>, _ context: FsckContext) async throws -> [FsckFault] {
        try await context.look(
            """
            SELECT min(attemptId), min(attemptedAt), max(attemptedAt) FROM notificationDeliveryAttempts
            WHERE attemptedAt >= \(slice.lowerBound) AND attemptedAt < \(slice.upperBound)
            GROUP BY attemptKey HAVING count(*) > 1 LIMIT 100
            """
        ).map { row in
            let (id, first, last) = try row.decode((String, Timestamp, Timestamp).self)
            return FsckFault("attempt \(id) has more than one row, from \(first) to \(last)")
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
            WHERE \(LedgerSlices.within(keys, "attemptKey"))
              AND generation BETWEEN \(scope.generations.lowerBound) AND \(scope.generations.upperBound)
            GROUP BY attemptKey HAVING count(*) > 1 ORDER BY 1 LIMIT 100
            """
        ).map { row in
            let key = try row.decode(String.self)
            return FsckFault("key \(key) is in two generations of the ledger: its id was new twice")
        }
    }
}
