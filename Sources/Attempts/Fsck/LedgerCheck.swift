import Postgres
import PushContract

/// Ledger and attempts agree: the same ids, at the same time, with the same status and the content that the fingerprint is of.
///
/// First both sides are summed up, each in one pass: how many, and a sum of digests, for each piece of time. Only pieces that differ,
/// because reports came late between the two passes or because something is off, are compared id by id.
struct LedgerCheck: FsckCheck {
    let name = "ledger"

    /// What a piece of time holds. The digests are cut to 39 bits, so that a sum of millions cannot overflow.
    private struct Sum: Equatable {
        var count: Int64 = 0
        var digest: Int64 = 0
    }

    func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let slices = try await FactSlices.read(context).all
        let suspects = try await suspects(slices, context)
        let faults = suspects.isEmpty ? [] : try await compare(suspects, slices, context)
        let examined = "the whole ledger; \(suspects.count) of \(slices.count) pieces of time id by id"
        let promise = "ledger and attempts received in its days agree, one row for each id"
        return [FsckReport.Line(name, promise, examined: examined, faults: faults)]
    }

    private func suspects(_ slices: [FactSlices.Slice], _ context: FsckContext) async throws -> [Int] {
        let scope = try await FsckScope.read(context)
        let pieces = try await LedgerSlices.read(scope, context)
        let total = pieces.count + slices.count
        var ledger = Array(repeating: Sum(), count: slices.count)
        for (done, piece) in pieces.enumerated() {
            context.progress(done, of: total)
            for row in try await context.look(ledgerSums(piece, bounds(slices))) {
                let (bucket, count, digest) = try row.decode((Int32, Int64, Int64).self)
                // 0: before the oldest partition; one more than there are: not closed yet.
                guard slices.indices.contains(Int(bucket) - 1) else { continue }
                ledger[Int(bucket) - 1].count += count
                ledger[Int(bucket) - 1].digest &+= digest
            }
        }
        let window = Timestamp(seconds: (context.now.day - context.days) * 86_400)
        var suspects: [Int] = []
        for (index, slice) in slices.enumerated() {
            context.progress(pieces.count + index, of: total)
            guard ledger[index].count > 0 || slice.range.lowerBound >= window else { continue }
            let facts = slice.hasPartition ? try await factSum(slice.range, since: scope.ledgerSince, context) : Sum()
            if facts != ledger[index] { suspects.append(index) }
        }
        return suspects
    }

    /// Where each piece begins, and where the last one ends.
    private func bounds(_ slices: [FactSlices.Slice]) -> [Timestamp] {
        slices.map(\.range.lowerBound) + (slices.last.map { [$0.range.upperBound] } ?? [])
    }

    /// An attempt's fingerprint, as `AttemptKey` makes it.
    private static let fingerprint = """
        substring(sha256(textsend(uid) || '\\x00' || enum_send(platform) || '\\x00' || enum_send(provider) || '\\x00' || textsend(tokenHash)
            || '\\x00' || enum_send(eventType) || '\\x00' || textsend(requestId) || '\\x00') FOR 16)
        """

    private static func digest(_ fingerprint: String) -> String {
        "sum(hash_record_extended(ROW(attemptKey, attemptedAt, status, \(fingerprint)), 0) & 549755813887)::bigint"
    }

    private func ledgerSums(_ piece: LedgerSlices.Slice, _ bounds: [Timestamp]) -> Query {
        """
        SELECT width_bucket(attemptedAt, \(bounds)), count(*), \(raw: LedgerCheck.digest("uuid_send(fingerprint)"))
        FROM \(raw: piece.table) AS ledger WHERE \(piece.condition) GROUP BY 1
        """
    }

    private func factSum(_ range: Range<Timestamp>, since: Timestamp, _ context: FsckContext) async throws -> Sum {
        let rows = try await context.look(
            """
            SELECT count(*), coalesce(\(raw: LedgerCheck.digest(LedgerCheck.fingerprint)), 0) FROM notificationDeliveryAttempts
            WHERE attemptedAt >= \(range.lowerBound) AND attemptedAt < \(range.upperBound) AND receivedAt >= \(since)
            """
        )
        let (count, digest) = try rows[0].decode((Int64, Int64).self)
        return Sum(count: count, digest: digest)
    }

    private func compare(_ suspects: [Int], _ slices: [FactSlices.Slice], _ context: FsckContext) async throws -> [FsckFault] {
        var faults: [FsckFault] = []
        for index in suspects where slices[index].hasPartition {
            faults += try await context.confirmed { try await unledgered(slices[index].range, context) }
        }
        faults += try await context.confirmed { try await missing(suspects, bounds(slices), context) }
        return faults
    }

    /// Attempts that the ledger lacks, or has on another day or with another status or content.
    private func unledgered(_ range: Range<Timestamp>, _ context: FsckContext) async throws -> [FsckFault] {
        let scope = try await FsckScope.read(context)
        let rows = try await context.probe(
            """
            SELECT fact.attemptId, fact.attemptedAt, fact.status::text, ledger.attemptedAt, ledger.status::text
            FROM notificationDeliveryAttempts AS fact LEFT JOIN attemptLedger AS ledger
                ON ledger.attemptKey = fact.attemptKey
               AND ledger.generation BETWEEN \(scope.generations.lowerBound) AND \(scope.generations.upperBound)
            WHERE fact.attemptedAt >= \(range.lowerBound) AND fact.attemptedAt < \(range.upperBound)
              AND fact.receivedAt >= \(scope.ledgerSince)
              AND (ledger.attemptKey IS NULL OR ledger.attemptedAt <> fact.attemptedAt OR ledger.status <> fact.status
                   OR uuid_send(ledger.fingerprint) <> \(raw: LedgerCheck.fingerprint))
            ORDER BY fact.attemptedAt, fact.attemptKey LIMIT 100
            """
        )
        return try rows.map { row in
            let (id, at, status, ledgerAt, ledgerStatus) = try row.decode((String, Timestamp, String, Timestamp?, String?).self)
            guard let ledgerAt else { return FsckFault("attempt \(id) of \(at) is not in the ledger") }
            guard ledgerAt == at else {
                return FsckFault("attempt \(id) is stored at \(at), its ledger entry names \(ledgerAt): a second row")
            }
            guard ledgerStatus == status else {
                return FsckFault(
                    key: "status \(id)",
                    text: "attempt \(id) of \(at) is \(status), the ledger says \(ledgerStatus ?? "nothing")"
                )
            }
            return FsckFault(
                "attempt \(id) of \(at) has another uid, platform, provider, tokenHash, eventType or requestId than was reported"
            )
        }
    }

    /// Ids of the ledger whose attempt is not there, in the pieces of time that are suspect.
    private func missing(_ suspects: [Int], _ bounds: [Timestamp], _ context: FsckContext) async throws -> [FsckFault] {
        let scope = try await FsckScope.read(context)
        var faults: [FsckFault] = []
        for piece in try await LedgerSlices.read(scope, context) {
            let rows = try await context.probe(
                """
                SELECT ledger.attemptKey::text, ledger.attemptedAt
                FROM \(raw: piece.table) AS ledger LEFT JOIN notificationDeliveryAttempts AS fact
                    ON fact.attemptedAt = ledger.attemptedAt AND fact.attemptKey = ledger.attemptKey
                WHERE \(piece.condition) AND width_bucket(ledger.attemptedAt, \(bounds)) = ANY(\(suspects.map { Int32($0 + 1) }))
                  AND fact.attemptKey IS NULL
                ORDER BY 1 LIMIT 100
                """
            )
            faults += try rows.map { row in
                let (key, at) = try row.decode((String, Timestamp).self)
                return FsckFault("the ledger knows key \(key) at \(at), but no attempt is stored there")
            }
        }
        return faults
    }
}
