import Postgres
import PushContract

/// Sends of which more than one row of a token may say sent.
///
/// Such rows may be days apart, and no index finds them by their send. So each piece of time is read by itself, and what a filter of
/// the rows before it may contain is looked up by the index of users. The filter is bounded: with more rows than it is made for, more are
/// looked up, and nothing is missed.
package struct RepeatedSends {
    /// A send to a token of a person, as rows of attempts name it.
    package struct Send: Sendable, Hashable {
        package var sendId: String
        package var uid: String
        package var tokenHash: String
    }

    /// 256 MiB.
    private static let maxCapacity = 1 << 27

    private let context: FsckContext

    package init(_ context: FsckContext) { self.context = context }

    /// Calls `body` with 2,000 of them at most, until it returns false.
    package func forEach(_ body: ([Send]) async throws -> Bool) async throws {
        let slices = try await context.attemptSlices()
        let filter = BloomFilter(capacity: min(slices.count * FactSlices.usualAttempts, Self.maxCapacity))
        for (done, slice) in slices.enumerated() {
            context.progress(done, of: slices.count)
            var candidates: [Int64] = []
            for row in try await context.look("SELECT \(digest(0)), \(digest(1)) FROM \(rows(in: slice))") {
                let (first, second) = try row.decode((Int64, Int64).self)
                let key = AttemptKey(high: UInt64(bitPattern: first), low: UInt64(bitPattern: second))
                if filter.mayContain(key) { candidates.append(first) } else { filter.insert(key) }
            }
            guard !candidates.isEmpty else { continue }
            let sends = try await context.look(
                "SELECT DISTINCT sendId, uid, tokenHash FROM \(rows(in: slice)) AND \(digest(0)) = ANY(\(candidates))"
            ).map { try Send($0) }
            for start in stride(from: 0, to: sends.count, by: 2000) {
                guard try await body(Array(sends[start..<min(start + 2000, sends.count)])) else { return }
            }
        }
    }

    /// How many rows of each say sent, of those that have more than one.
    package func counts(of sends: [Send]) async throws -> [(send: Send, rows: Int64)] {
        let since = FactSlices.start(of: context.days, before: context.now)
        return try await context.probe(
            """
            SELECT e.index, count(*)
            FROM unnest(\(Array(sends.indices)), \(sends.map(\.uid)), \(sends.map(\.sendId)), \(sends.map(\.tokenHash)))
                AS e (index, uid, sendId, tokenHash)
            JOIN notificationDeliveryAttempts a ON a.uid = e.uid AND a.sendId = e.sendId AND a.tokenHash = e.tokenHash
            WHERE a.attemptedAt >= \(since) AND a.eventType = 'send' AND a.status = 'sent'
            GROUP BY 1 HAVING count(*) > 1 ORDER BY 1
            """
        ).map { row in
            let (index, rows) = try row.decode((Int, Int64).self)
            return (sends[index], rows)
        }
    }

    private func rows(in slice: Range<Timestamp>) -> Query {
        """
        notificationDeliveryAttempts WHERE attemptedAt >= \(slice.lowerBound) AND attemptedAt < \(slice.upperBound)
            AND eventType = 'send' AND status = 'sent' AND sendId IS NOT NULL
        """
    }

    private func digest(_ seed: Int) -> Query { "hash_record_extended(ROW(sendId, uid, tokenHash), \(raw: "\(seed)"))" }
}

extension RepeatedSends.Send {
    fileprivate init(_ row: Row) throws { (sendId, uid, tokenHash) = try row.decode((String, String, String).self) }
}
