import AlertRules
import Attempts
import Postgres
import PushContract

/// Reads a bounded part of the attempts of a window, in bounded time.
///
/// The window is cut into slices of equal length, and the first attempts of each are read, so the work does not grow with the traffic. The
/// slices are read one after the other, spread over the window, until the time is used up: what was read until then is the sample.
struct SampleReader {
    static let slices = 20

    let rule: AlertRule
    let group: GroupKey
    let window: WindowCounts
    /// Attempts read in each slice, at most.
    let perSlice: Int
    let pool: PostgresPool
    private let end: ContinuousClock.Instant

    /// - Parameter time: for all statements together.
    init(_ rule: AlertRule, group: GroupKey, window: WindowCounts, perSlice: Int, time: Duration, on pool: PostgresPool) {
        self.rule = rule
        self.group = group
        self.window = window
        self.perSlice = perSlice
        self.pool = pool
        end = .now + time
    }

    var from: Timestamp { window.first.timestamp }

    /// The rows of each slice that could be read in time. `select` reads from `sampled`: the attempts of a slice that the rule counts.
    func slices(_ select: Query) async throws -> [[Row]] {
        var read: [[Row]] = []
        // A step without a common divisor visits each slice once, and none next to the one before.
        for step in 0..<Self.slices {
            guard let rows = try await rows("WITH \(sampled(slice: step * 7 % Self.slices)) \(select)") else { break }
            read.append(rows)
        }
        return read
    }

    /// The rows of one statement; nil when the time was used up before it ended.
    func rows(_ query: Query) async throws -> [Row]? {
        let (seconds, attoseconds) = (end - .now).components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return nil }
        do {
            return try await pool.withTransaction("BEGIN READ ONLY; SET LOCAL statement_timeout = \(milliseconds)") {
                try await $0.query(query)
            }
        } catch let error as PostgresError where error.code == .queryCancelled {
            return nil
        }
    }

    private func sampled(slice: Int) -> Query {
        let length = (window.last + 1).timestamp - from
        var conditions: Query = "true"
        for (dimension, values) in rule.selection(in: group).allowed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            conditions = "\(conditions) AND \(raw: dimension.rawValue)::text = ANY(\(values))"
        }
        var bad: Query = "reasonCode = ANY(\(rule.condition.reasons))"
        if !rule.condition.statuses.isEmpty { bad = "\(bad) AND status::text = ANY(\(rule.condition.statuses))" }
        if !rule.condition.codes.isEmpty { bad = "\(bad) AND providerErrorCode = ANY(\(rule.condition.codes))" }
        return """
            sampled AS (
                SELECT uid, tokenHash, attemptedAt, reasonCode AS reason, appVersion, providerErrorCode AS code, (\(bad)) AS isBad
                FROM (
                    SELECT * FROM attemptLabels
                    WHERE attemptedAt >= \(from + length * slice / Self.slices)
                      AND attemptedAt < \(from + length * (slice + 1) / Self.slices)
                    ORDER BY attemptedAt LIMIT \(perSlice)
                ) a
                WHERE status IN ('sent', 'failed', 'deactivated') AND \(conditions)
            )
            """
    }
}
