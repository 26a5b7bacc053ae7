import AlertRules
import Attempts
import Foundation
import Postgres
import PushContract

/// A bounded sample of the attempts of a window, for what the rollups do not contain: app version, the provider's own code, devices.
///
/// With little traffic it is a full count. It is read once for each alert that begins, so it costs nothing while nothing fires.
struct AttemptSample: Sendable {
    static let maxPerSlice = 2500
    /// Devices that are looked up for a success.
    static let maxDevices = 2000
    /// Attempts of their people that are searched for it: the newest of each person.
    static let maxLookedThrough = 40_000

    /// Values of `appVersion`, `providerErrorCode` and, for rules about several, `reasonCode` with their counts in the sample.
    var shares: [(dimension: String, value: String, attempts: Int64, bad: Int64)] = []
    var attempts: Int64 = 0
    var bad: Int64 = 0
    /// Devices with a bad attempt in the sample that certainly had no success since the window began.
    var devices: Int64 = 0
    /// False: others may have had none.
    var areAllDevices = true

    private struct Device: Hashable {
        @ExactText var uid: String
        var tokenHash: String
    }

    static func read(
        _ rule: AlertRule,
        group: GroupKey,
        window: WindowCounts,
        time: Duration,
        on pool: PostgresPool
    ) async throws -> AttemptSample {
        let reader = SampleReader(rule, group: group, window: window, perSlice: maxPerSlice, time: time, on: pool)
        var (sample, hit) = try await count(reader)
        try await sample.lookUp(hit, reader)
        return sample
    }

    private static func count(_ reader: SampleReader) async throws -> (AttemptSample, hit: Set<Device>) {
        var sample = AttemptSample()
        var hit: Set<Device> = []
        var counts: [String: [String: AttemptCounts]] = [:]
        let slices = try await reader.slices(
            """
            SELECT appVersion, code, CASE WHEN isBad THEN reason ELSE '' END, isBad, CASE WHEN isBad THEN uid END,
                   CASE WHEN isBad THEN tokenHash END, count(*)
            FROM sampled GROUP BY 1, 2, 3, 4, 5, 6
            """
        )
        for row in slices.joined() {
            let (version, code, reason, isBad, uid, tokenHash, count) = try row.decode(
                (String, String, String, Bool, String?, String?, Int64).self
            )
            let own = AttemptCounts(attempts: count, bad: isBad ? count : 0)
            sample.attempts += own.attempts
            sample.bad += own.bad
            var values = [("appVersion", version), ("providerErrorCode", code)]
            if reader.rule.condition.reasons.count > 1 { values.append(("reasonCode", reason)) }
            for (dimension, value) in values {
                counts[dimension, default: [:]][value] = (counts[dimension]?[value] ?? AttemptCounts()) + own
            }
            if let uid, let tokenHash { hit.insert(Device(uid: uid, tokenHash: tokenHash)) }
        }
        for (dimension, values) in counts {
            for (value, counts) in values { sample.shares.append((dimension, value, counts.attempts, counts.bad)) }
        }
        return (sample, hit)
    }

    /// Searches the newest attempts of each person. Where there are more than are read, or the time is used up, devices without a success
    /// among them are not counted: the number is a lower bound.
    private mutating func lookUp(_ hit: Set<Device>, _ reader: SampleReader) async throws {
        // In the order of a digest: as good as random, and reproducible.
        let looked = hit.sorted { $0.tokenHash < $1.tokenHash }.prefix(Self.maxDevices)
        let byPerson = Dictionary(grouping: looked, by: \.$uid)
        let people = byPerson.keys.sorted().map(\.text)
        areAllDevices = hit.count <= Self.maxDevices
        guard !people.isEmpty else { return }
        let perPerson = Self.maxLookedThrough / people.count
        let isDistributed = try await DatabaseEngine.read(on: reader.pool).isDistributed
        for start in stride(from: 0, to: people.count, by: 100) {
            let some = Array(people[start..<min(start + 100, people.count)])
            let query = isDistributed ? distributedSuccesses(of: some, perPerson, reader) : successes(of: some, perPerson, reader)
            guard let rows = try await reader.rows(query) else {
                areAllDevices = false
                return
            }
            for row in rows {
                let (uid, lookedAt, tokens) = try row.decode((String, Int, [String]).self)
                let succeeded = Set(tokens)
                let without = (byPerson[ExactText(uid)] ?? []).count { !succeeded.contains($0.tokenHash) }
                if lookedAt < perPerson { devices += Int64(without) } else if without > 0 { areAllDevices = false }
            }
        }
    }

    /// For each person how many attempts were read, and the tokens with a success among them.
    private func successes(of people: [String], _ perPerson: Int, _ reader: SampleReader) -> Query {
        """
        SELECT person.uid, count(*), coalesce(array_agg(DISTINCT tokenHash) FILTER (WHERE isSuccess), '{}')
        FROM unnest(\(people)) AS person (uid) CROSS JOIN LATERAL (\(newest(perPerson, of: "person.uid", reader))) newest
        GROUP BY person.uid
        """
    }

    /// The same for distributed tables, which have no lateral subquery with a limit: one limit for all of them. When it is reached, none of
    /// them counts as read completely.
    private func distributedSuccesses(of people: [String], _ perPerson: Int, _ reader: SampleReader) -> Query {
        let limit = perPerson * people.count
        return """
            WITH newest AS MATERIALIZED (\(newest(limit, of: "ANY(\(people))", reader)))
            SELECT uid, CASE WHEN (SELECT count(*) FROM newest) < \(limit) THEN 0 ELSE \(perPerson) END,
                   coalesce(array_agg(DISTINCT tokenHash) FILTER (WHERE isSuccess), '{}')
            FROM newest GROUP BY uid
            """
    }

    private func newest(_ limit: Int, of person: Query, _ reader: SampleReader) -> Query {
        """
        SELECT a.uid, tokenHash, status = 'sent' AND eventType = 'send' AS isSuccess FROM notificationDeliveryAttempts a
        WHERE a.uid = \(person) AND attemptedAt >= \(reader.from) ORDER BY attemptedAt DESC LIMIT \(limit)
        """
    }
}
