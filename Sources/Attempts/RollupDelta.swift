import Postgres
import PushContract

/// What a batch changes in `attemptRollups`, summed up before it goes there: one row per minute and dimension.
struct RollupDelta {
    struct Key: Hashable, Comparable {
        var minute: Int64
        var provider: Provider
        var platform: Platform
        var eventType: EventType
        var status: AttemptStatus
        var reasonCode: ReasonCode?
        var app: String
        var environment: PushEnvironment?
        var pushType: String

        /// One order for all writers, so that two of them in one slot cannot deadlock.
        static func < (lhs: Key, rhs: Key) -> Bool { lhs.sortKey < rhs.sortKey }

        private var sortKey: (Int64, String, String, String, String, String) {
            (
                minute, provider.rawValue + platform.rawValue, eventType.rawValue + status.rawValue, reasonCode?.rawValue ?? "",
                app + "\u{1}" + (environment?.rawValue ?? ""), pushType
            )
        }
    }

    struct Sums: Equatable {
        var attempts: Int64 = 0
        var latencyMsSum: Int64 = 0
        var latencyCount: Int64 = 0
    }

    private(set) var rows: [Key: Sums] = [:]
    /// Most attempts of a batch have the dimensions of the one before.
    private var texts: [ArraySlice<UInt8>: String] = [:]

    /// Counts one more (`sign` 1) or one less (-1).
    mutating func count(_ record: AttemptBatch.Record, of batch: AttemptBatch, attemptedAt: Timestamp, sign: Int64 = 1) {
        let key = Key(
            minute: attemptedAt.minute,
            provider: record.provider,
            platform: record.platform,
            eventType: record.eventType,
            status: record.status,
            reasonCode: record.reasonCode,
            app: text(record.app, of: batch),
            environment: record.environment,
            pushType: text(record.pushType, of: batch)
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
            app: attempt.app ?? "",
            environment: attempt.environment,
            pushType: attempt.pushType ?? ""
        )
        add(key, latencyMs: attempt.latencyMs, sign: sign)
    }

    private mutating func add(_ key: Key, latencyMs: Int32?, sign: Int64) {
        rows[key, default: Sums()].attempts += sign
        guard let latencyMs else { return }
        rows[key, default: Sums()].latencyMsSum += sign * Int64(latencyMs)
        rows[key, default: Sums()].latencyCount += sign
    }

    private mutating func text(_ piece: AttemptBatch.Piece, of batch: AttemptBatch) -> String {
        if piece.isAbsent { return "" }
        let bytes = batch.bytes(piece)
        if let known = texts[bytes] { return known }
        let text = String(decoding: bytes, as: UTF8.self)
        texts[bytes] = text
        return text
    }

    /// Adds the sums to the rows of one writer's slot.
    func apply(slot: Int16, on connection: BlockingConnection) throws {
        let rows = rows.sorted { $0.key < $1.key }
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
                        \(keys.map { $0.reasonCode?.rawValue ?? "" }), \(keys.map(\.app)), \(keys.map { $0.environment?.rawValue ?? "" }),
                        \(keys.map(\.pushType)), \(rows.map(\.value.attempts)), \(rows.map(\.value.latencyMsSum)),
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
