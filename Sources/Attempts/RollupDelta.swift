import Postgres
import PushContract

/// What a batch changes in `attemptRollups`, summed up before it goes there: one row per minute and dimension.
struct RollupDelta {
    struct Key: Hashable {
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
    }

    struct Sums: Equatable {
        var attempts: Int64 = 0
        var latencyMsSum: Int64 = 0
        var latencyCount: Int64 = 0
    }

    private var rows: [Key: Sums] = [:]
    /// Apps and push types, each once. A batch has few, so the search for one is a look at the first ones.
    private var texts = [""]
    private var places: [String: Int] = ["": 0]
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
            app: place(of: record.app, in: batch),
            pushType: place(of: record.pushType, in: batch)
        )
        add(key, latencyMs: record.latencyMs, sign: sign)
    }

    mutating func count(_ attempt: Attempt, sign: Int64) {
        let key = Key(
            minute: attempt.attemptedAt.minute,
            provider: attempt.provider,
            platform: attempt.platform,
            eventType: attempt.eventType,
            status: attempt.status,
            reasonCode: attempt.reasonCode,
            environment: attempt.environment,
            app: place(of: attempt.app ?? ""),
            pushType: place(of: attempt.pushType ?? "")
        )
        add(key, latencyMs: attempt.latencyMs, sign: sign)
    }

    private mutating func add(_ key: Key, latencyMs: Int32?, sign: Int64) {
        var sums = rows[key] ?? Sums()
        sums.attempts += sign
        if let latencyMs {
            sums.latencyMsSum += sign * Int64(latencyMs)
            sums.latencyCount += sign
        }
        rows[key] = sums
    }

    private mutating func place(of piece: AttemptBatch.Piece, in batch: AttemptBatch) -> Int {
        if piece.isAbsent { return 0 }
        let bytes = batch.bytes(piece)
        for place in 1..<max(1, min(texts.count, RollupDelta.searched)) where texts[place].utf8.elementsEqual(bytes) { return place }
        return place(of: String(decoding: bytes, as: UTF8.self))
    }

    private mutating func place(of text: String) -> Int {
        if let known = places[text] { return known }
        texts.append(text)
        places[text] = texts.count - 1
        return texts.count - 1
    }

    /// One order for all writers, so that two of them in one slot cannot deadlock.
    private func sortKey(_ key: Key) -> (Int64, String, String, String, String, String) {
        (
            key.minute, key.provider.rawValue + key.platform.rawValue, key.eventType.rawValue + key.status.rawValue,
            key.reasonCode?.rawValue ?? "", texts[key.app] + "\u{1}" + (key.environment?.rawValue ?? ""), texts[key.pushType]
        )
    }

    /// Adds the sums to the rows of one writer's slot.
    func apply(slot: Int16, on connection: BlockingConnection) throws {
        let rows = rows.map { (order: sortKey($0.key), key: $0.key, value: $0.value) }.sorted { $0.order < $1.order }
        guard !rows.isEmpty else { return }
        let keys = rows.map(\.key)
        try connection.execute(
            """
            INSERT INTO attemptRollups AS rollup (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType,
                writerSlot, attempts, latencyMsSum, latencyCount)
            SELECT minute, provider::pushProvider, platform::pushPlatform, eventType::pushEventType, status::pushStatus, reasonCode, app,
                environment, pushType, \(slot), attempts, latencyMsSum, latencyCount
            FROM unnest(\(keys.map { Timestamp(seconds: $0.minute * 60) }), \(keys.map(\.provider.rawValue)),
                        \(keys.map(\.platform.rawValue)), \(keys.map(\.eventType.rawValue)), \(keys.map(\.status.rawValue)),
                        \(keys.map { $0.reasonCode?.rawValue ?? "" }), \(keys.map { texts[$0.app] }), \(keys.map { $0.environment?.rawValue ?? "" }),
                        \(keys.map { texts[$0.pushType] }), \(rows.map(\.value.attempts)), \(rows.map(\.value.latencyMsSum)),
                        \(rows.map(\.value.latencyCount)))
                AS counted (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, attempts,
                            latencyMsSum, latencyCount)
            ON CONFLICT (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, writerSlot)
            DO UPDATE SET attempts = rollup.attempts + excluded.attempts,
                latencyMsSum = rollup.latencyMsSum + excluded.latencyMsSum, latencyCount = rollup.latencyCount + excluded.latencyCount
            """
        )
    }
}
