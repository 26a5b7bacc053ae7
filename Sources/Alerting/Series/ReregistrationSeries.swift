import AlertRules
import Postgres
import PushContract

/// Keeps `deviceReregistrationHours`: of the devices whose token was no longer registered in an hour, how many registered within a day.
///
/// The hour's attempts are sampled in slices, so the cost does not grow with them; each sampled device is looked up by its person.
struct ReregistrationSeries {
    static let name = "reregistrations"
    /// How long a device has, in minutes.
    static let reregistrationWindow = 1440
    /// From the beginning of an hour to the minute in which its group is known, late rows included.
    static let known = 60 + reregistrationWindow + 10
    /// Hours that one pass does, so that a catch-up does not delay evaluation.
    private static let maxHours = 2
    private static let slices = 20
    private static let maxPerSlice = 2000
    private static let maxDevices = 500
    private static let retention = Duration.seconds(60 * 86_400)

    let lease: AlertLease
    let pool: PostgresPool

    func fill(through last: Minute) async throws {
        let newest = Minute((last - (Self.known - 1)).index / 60 * 60)
        let asOf = try await SeriesProgress.read(Self.name, on: pool)
        var hour = max(asOf.map { $0 + 60 } ?? newest - 7 * 1440, newest - 28 * 1440)
        for _ in 0..<Self.maxHours where hour <= newest {
            try await fill(hour)
            hour = hour + 60
        }
    }

    private func fill(_ hour: Minute) async throws {
        let (from, to) = (hour.timestamp, (hour + 60).timestamp)
        let isSeen = try await pool.query(
            """
            SELECT EXISTS (SELECT 1 FROM attemptRollups WHERE minute >= \(from) AND minute < \(to)
                             AND reasonCode = 'token_not_registered' AND eventType = 'send')
            """
        )[0].decode(Bool.self)
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            if isSeen { try await count(from, to, in: transaction) }
            try await transaction.execute("DELETE FROM deviceReregistrationHours WHERE hour < \(from - Self.retention)")
            try await SeriesProgress.write(Self.name, asOf: hour, in: transaction)
        }
    }

    private struct Group: Hashable {
        var provider: String
        @ExactText var app: String
    }

    private struct Device {
        var group: Group
        var uid: String
        var goneAt: Timestamp
    }

    /// Attempts, which may be distributed, and the counts, which are not, each in statements of their own.
    private func count(_ from: Timestamp, _ to: Timestamp, in transaction: any PostgresSession) async throws {
        try await transaction.execute("SET LOCAL statement_timeout = '5s'")
        let devices = try await gone(from, to, in: transaction)
        guard !devices.isEmpty else { return }
        let back = try await registered(devices, in: transaction)
        var counts: [Group: (devices: Int64, back: Int64)] = [:]
        for (index, device) in devices.enumerated() {
            counts[device.group, default: (0, 0)].devices += 1
            if back.contains(index) { counts[device.group, default: (0, 0)].back += 1 }
        }
        let groups = Array(counts.keys)
        try await transaction.execute(
            """
            INSERT INTO deviceReregistrationHours (hour, provider, app, devices, reregistered)
            SELECT \(from), * FROM unnest(\(groups.map(\.provider)), \(groups.map(\.app)),
                \(groups.map { counts[$0]?.devices ?? 0 }), \(groups.map { counts[$0]?.back ?? 0 }))
            ON CONFLICT DO NOTHING
            """
        )
    }

    private func gone(_ from: Timestamp, _ to: Timestamp, in transaction: any PostgresSession) async throws -> [Device] {
        let slices = (0..<Self.slices).map { slice -> Query in
            let (start, end) = (from + (to - from) * slice / Self.slices, from + (to - from) * (slice + 1) / Self.slices)
            return """
                SELECT provider, app, uid, tokenHash, attemptedAt, reasonCode, eventType FROM notificationDeliveryAttempts
                WHERE attemptedAt >= \(start) AND attemptedAt < \(end) ORDER BY attemptedAt LIMIT \(Self.maxPerSlice)
                """
        }
        // In the order of a digest: as good as random, and reproducible.
        return try await transaction.query(
            """
            SELECT provider, app, uid, goneAt FROM (
                SELECT DISTINCT ON (provider, uid, tokenHash) provider::text, coalesce(app, '') AS app, uid, tokenHash,
                       attemptedAt AS goneAt
                FROM (\(Query.together(slices))) AS sampled
                WHERE reasonCode = 'token_not_registered' AND eventType = 'send'
                ORDER BY provider, uid, tokenHash, attemptedAt
            ) AS gone ORDER BY tokenHash LIMIT \(Self.maxDevices)
            """
        ).map { row in
            let (provider, app, uid, goneAt) = try row.decode((String, String, String, Timestamp).self)
            return Device(group: Group(provider: provider, app: app), uid: uid, goneAt: goneAt)
        }
    }

    /// The positions of those that registered again in time. A device is the person and the app: a new token has another hash.
    private func registered(_ devices: [Device], in transaction: any PostgresSession) async throws -> Set<Int> {
        let rows = try await transaction.query(
            """
            SELECT DISTINCT gone.index
            FROM unnest(\(Array(devices.indices)), \(devices.map(\.uid)), \(words: devices.map(\.group.provider))::pushProvider[],
                        \(devices.map(\.group.app)), \(devices.map(\.goneAt))) AS gone (index, uid, provider, app, goneAt)
            JOIN notificationDeliveryAttempts AS attempt ON attempt.uid = gone.uid AND attempt.provider = gone.provider
                AND coalesce(attempt.app, '') = gone.app AND attempt.attemptedAt > gone.goneAt
                AND attempt.attemptedAt < gone.goneAt + make_interval(mins => \(Int32(Self.reregistrationWindow)))
            WHERE attempt.eventType = 'register' AND attempt.status = 'sent'
            """
        )
        return try Set(rows.map { try $0.decode(Int.self) })
    }
}
