import Postgres
import PushContract

/// What a batch changes in `attemptRollups`, summed up before it goes there: one row per minute and dimension; and in `attemptLatencies`.
struct RollupDelta {
    struct Key: Equatable {
        var minute: Int64
        var provider: Provider
        var platform: Platform
        var eventType: EventType
        var status: AttemptStatus
        var reasonCode: ReasonCode?
        var environment: PushEnvironment?
        /// Places in `texts`.
        var app: Int
        var pushType: Int
        var appMajor: Int16

        /// The same in one number next to the minute, so that looking a key up hashes sixteen bytes and not ten values.
        var packed: Packed {
            var bits = UInt64(provider.ordinal)
            bits = bits << 3 | UInt64(platform.ordinal)
            bits = bits << 3 | UInt64(eventType.ordinal)
            bits = bits << 3 | UInt64(status.ordinal)
            bits = bits << 4 | UInt64(reasonCode?.ordinal ?? 15)
            bits = bits << 3 | UInt64(environment?.ordinal ?? 7)
            // A transaction has at most 5,000 rows and an import's batch not many more.
            return Packed(
                minute: minute << 16 | Int64(UInt16(bitPattern: appMajor)),
                bits: bits << 40 | UInt64(app) << 20 | UInt64(pushType)
            )
        }
    }

    struct Packed: Hashable {
        /// With the app's major version in the lowest sixteen bits.
        var minute: Int64
        var bits: UInt64
    }

    struct Sums: Equatable {
        var attempts: Int64 = 0
        var latencyMsSum: Int64 = 0
        var latencyCount: Int64 = 0
    }

    private var rows: [(key: Key, sums: Sums)] = []
    private var indices: [Packed: Int] = [:]
    private var latencies = LatencyDelta()
    /// Apps and push types, each once. A batch has few, so the search for one is a look at the first ones.
    private var texts = [ExactText("")]
    private var textIndexes: [ExactText: Int] = [ExactText(""): 0]
    private static let searched = 8

    /// Counts one more (`sign` 1) or one less (-1).
    mutating func count(_ record: AttemptBatch.Record, of batch: AttemptBatch, attemptedAt: Timestamp, sign: Int64 = 1) {
        let key = Key(
            minute: attemptedAt.minute,
            provider: record.provider,
            platform: record.platform,
            eventType: record.eventType,
            status: record.status,
            reasonCode: record.reasonCode,
            environment: record.environment,
            app: record.folded.contains(.app) ? textIndex(of: FoldedLabels.other) : textIndex(of: record[.app], in: batch),
            pushType: record.folded.contains(.pushType)
                ? textIndex(of: FoldedLabels.other) : textIndex(of: record[.pushType], in: batch),
            appMajor: record.folded.contains(.appVersion) ? AppMajor.other : AppMajor.parse(batch.bytes(record[.appVersion]))
        )
        add(key, latencyMs: record.latencyMs, sign: sign)
    }

    mutating func count(_ attempt: Attempt, folded: FoldedLabels, sign: Int64) {
        let key = Key(
            minute: attempt.attemptedAt.minute,
            provider: attempt.provider,
            platform: attempt.platform,
            eventType: attempt.eventType,
            status: attempt.status,
            reasonCode: attempt.reasonCode,
            environment: attempt.environment,
            app: textIndex(of: folded.contains(.app) ? FoldedLabels.other : attempt.app ?? ""),
            pushType: textIndex(of: folded.contains(.pushType) ? FoldedLabels.other : attempt.pushType ?? ""),
            appMajor: folded.contains(.appVersion) ? AppMajor.other : AppMajor.parse((attempt.appVersion ?? "").utf8)
        )
        add(key, latencyMs: attempt.latencyMs, sign: sign)
    }

    private mutating func add(_ key: Key, latencyMs: Int32?, sign: Int64) {
        let index = index(of: key)
        rows[index].sums.attempts += sign
        if let latencyMs {
            rows[index].sums.latencyMsSum += sign * Int64(latencyMs)
            rows[index].sums.latencyCount += sign
            latencies.count(key, latencyMs: latencyMs, sign: sign)
        }
    }

    private mutating func index(of key: Key) -> Int {
        let packed = key.packed
        if let index = indices[packed] { return index }
        rows.append((key, Sums()))
        indices[packed] = rows.count - 1
        return rows.count - 1
    }

    private mutating func textIndex(of piece: AttemptPiece, in batch: AttemptBatch) -> Int {
        if piece.isAbsent { return 0 }
        let bytes = batch.bytes(piece)
        for textIndex in 1..<max(1, min(texts.count, RollupDelta.searched)) where texts[textIndex].text.utf8.elementsEqual(bytes) {
            return textIndex
        }
        return textIndex(of: String(decoding: bytes, as: UTF8.self))
    }

    private mutating func textIndex(of text: String) -> Int {
        let text = ExactText(text)
        if let known = textIndexes[text] { return known }
        texts.append(text)
        textIndexes[text] = texts.count - 1
        return texts.count - 1
    }

    /// One order for all writers, so that two of them in one slot cannot deadlock.
    private func sortKey(_ key: Key) -> (Int64, String, String, String, ExactText, ExactText) {
        (
            key.minute, key.provider.rawValue + key.platform.rawValue, key.eventType.rawValue + key.status.rawValue,
            key.reasonCode?.rawValue ?? "", ExactText(texts[key.app].text + "\u{1}" + (key.environment?.rawValue ?? "")),
            ExactText(texts[key.pushType].text + "\u{1}" + AppMajor.text(key.appMajor))
        )
    }

    /// Adds the sums to the rows of one writer's slot.
    func apply(slot: Int16, now: Timestamp, on connection: BlockingConnection) throws {
        for query in queries(slot: slot, now: now) { try connection.executeLater(query) }
    }

    /// The statements that do: one for each row where there are few, one over arrays where there are many; none when nothing was counted.
    /// Then those of the latencies, and one for late minutes.
    func queries(slot: Int16, now: Timestamp) -> [Query] {
        if rows.isEmpty { return [] }
        let sorted = rows.count == 1 ? rows : rows.map { (order: sortKey($0.key), row: $0) }.sorted { $0.order < $1.order }.map(\.row)
        let counted = sorted.count <= RollupDelta.fewRows ? sorted.map { query($0, slot: slot) } : [query(sorted, slot: slot)]
        let late = rows.lazy.filter { LateMinutes.isLate($0.key.minute, now: now) }.map { ($0.key.minute, max(0, $0.sums.attempts)) }
        return counted + latencies.queries(slot: slot, texts: texts)
            + [LateMinutes.query(Dictionary(late, uniquingKeysWith: +), slot: slot)].compactMap(\.self)
    }

    /// A function scan over arrays costs as much as the statements of so many rows.
    static let fewRows = 3

    private func query(_ row: (key: Key, sums: Sums), slot: Int16) -> Query {
        let (key, sums) = row
        return Query(
            RollupDelta.single,
            [
                .value(slot), .moment(Timestamp(seconds: key.minute * 60)), .word(key.provider.spelling), .word(key.platform.spelling),
                .word(key.eventType.spelling), .word(key.status.spelling), .word(key.reasonCode?.spelling ?? ""),
                .value(texts[key.app].text),
                .word(key.environment?.spelling ?? ""), .value(texts[key.pushType].text), .value(AppMajor.text(key.appMajor)),
                .number(sums.attempts), .number(sums.latencyMsSum), .number(sums.latencyCount),
            ]
        )
    }

    private func query(_ rows: [(key: Key, sums: Sums)], slot: Int16) -> Query {
        func words(_ word: (Key) -> StaticString?) -> Query.Parameter {
            .text(PackedBytes.words(count: rows.count) { word(rows[$0].key) })
        }
        func named(_ textIndex: (Key) -> Int) -> Query.Parameter { .value(list: rows.map { texts[textIndex($0.key)].text }) }
        return Query(
            RollupDelta.several,
            [
                .value(slot),
                .value(list: rows.map { Timestamp(seconds: $0.key.minute * 60) }),
                words(\.provider.spelling), words(\.platform.spelling), words(\.eventType.spelling), words(\.status.spelling),
                .value(list: rows.map { $0.key.reasonCode?.rawValue ?? "" }),
                named(\.app),
                .value(list: rows.map { $0.key.environment?.rawValue ?? "" }),
                named(\.pushType),
                .value(list: rows.map { AppMajor.text($0.key.appMajor) }),
                .value(list: rows.map(\.sums.attempts)), .value(list: rows.map(\.sums.latencyMsSum)),
                .value(list: rows.map(\.sums.latencyCount)),
            ]
        )
    }

    private static let single: StaticString = """
        INSERT INTO attemptRollups AS rollup (writerSlot, minute, provider, platform, eventType, status, reasonCode, app, environment,
            pushType, appMajor, attempts, latencyMsSum, latencyCount)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        ON CONFLICT (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor, writerSlot)
        DO UPDATE SET attempts = rollup.attempts + excluded.attempts,
            latencyMsSum = rollup.latencyMsSum + excluded.latencyMsSum, latencyCount = rollup.latencyCount + excluded.latencyCount
        """

    private static let several: StaticString = """
        INSERT INTO attemptRollups AS rollup (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType,
            appMajor, writerSlot, attempts, latencyMsSum, latencyCount)
        SELECT minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor, $1, attempts, latencyMsSum,
            latencyCount
        FROM unnest($2, $3::pushProvider[], $4::pushPlatform[], $5::pushEventType[], $6::pushStatus[], $7, $8, $9, $10, $11, $12, $13, $14)
            AS counted (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor, attempts,
                        latencyMsSum, latencyCount)
        ON CONFLICT (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor, writerSlot)
        DO UPDATE SET attempts = rollup.attempts + excluded.attempts,
            latencyMsSum = rollup.latencyMsSum + excluded.latencyMsSum, latencyCount = rollup.latencyCount + excluded.latencyCount
        """
}
