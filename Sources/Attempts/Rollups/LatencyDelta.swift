import Postgres
import PushContract

/// What a batch changes in `attemptLatencies`, summed up before it goes there: one row per minute, provider, app and bucket of latency.
struct LatencyDelta {
    private struct Key: Hashable {
        var minute: Int64
        /// The provider's `ordinal`, which hashes faster.
        var provider: UInt8
        /// A place in the batch's texts.
        var app: Int
        var upToMs: Int32
    }

    private struct Row {
        var minute: Timestamp
        var provider: Provider
        var app: ExactText
        var upToMs: Int32
        var attempts: Int64
    }

    private var counts: [Key: Int64] = [:]

    /// Counts one more (`sign` 1) or one less (-1).
    mutating func count(_ key: RollupDelta.Key, latencyMs: Int32, sign: Int64) {
        let bucket = Key(
            minute: key.minute,
            provider: key.provider.ordinal,
            app: key.app,
            upToMs: LatencyBuckets.bound(of: latencyMs)
        )
        counts[bucket, default: 0] += sign
    }

    /// One statement for each row where there are few, one over arrays where there are many; none when no latency has changed.
    func queries(slot: Int16, texts: [ExactText]) -> [Query] {
        let rows = sorted(texts)
        if rows.isEmpty { return [] }
        guard rows.count > RollupDelta.fewRows else {
            return rows.map { row in
                Query(
                    Self.single,
                    [
                        .value(slot), .value(row.minute), .word(row.provider.spelling), .value(row.app.text), .value(row.upToMs),
                        .number(row.attempts),
                    ]
                )
            }
        }
        return [
            Query(
                Self.several,
                [
                    .value(slot), .value(list: rows.map(\.minute)),
                    .text(PackedBytes.words(count: rows.count) { rows[$0].provider.spelling }),
                    .value(list: rows.map(\.app.text)), .value(list: rows.map(\.upToMs)), .value(list: rows.map(\.attempts)),
                ]
            )
        ]
    }

    /// In one order for all writers, so that two of them in one slot cannot deadlock.
    private func sorted(_ texts: [ExactText]) -> [Row] {
        counts.compactMap { key, attempts in
            guard attempts != 0, let provider = Provider.allCases.first(where: { $0.ordinal == key.provider }) else { return nil }
            return Row(
                minute: Timestamp(seconds: key.minute * 60),
                provider: provider,
                app: texts[key.app],
                upToMs: key.upToMs,
                attempts: attempts
            )
        }.sorted { ($0.minute, $0.provider.ordinal, $0.app, $0.upToMs) < ($1.minute, $1.provider.ordinal, $1.app, $1.upToMs) }
    }

    private static let single: StaticString = """
        INSERT INTO attemptLatencies AS counted (writerSlot, minute, provider, app, upToMs, attempts) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (minute, provider, app, upToMs, writerSlot) DO UPDATE SET attempts = counted.attempts + excluded.attempts
        """

    private static let several: StaticString = """
        INSERT INTO attemptLatencies AS counted (writerSlot, minute, provider, app, upToMs, attempts)
        SELECT $1, minute, provider, app, upToMs, attempts
        FROM unnest($2, $3::pushProvider[], $4, $5, $6) AS added (minute, provider, app, upToMs, attempts)
        ON CONFLICT (minute, provider, app, upToMs, writerSlot) DO UPDATE SET attempts = counted.attempts + excluded.attempts
        """
}
