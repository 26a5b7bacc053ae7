import Foundation
import Postgres

/// What `pushwatch-dev bench live` measured.
struct LiveBenchReport: Encodable, Sendable {
    struct Ages: Encodable, Sendable {
        var sends: Int
        var p50Milliseconds: Double
        var p95Milliseconds: Double
        var p99Milliseconds: Double
        var maxMilliseconds: Double

        init(_ ages: [Double]) {
            let sorted = ages.sorted()
            func percentile(_ share: Double) -> Double {
                sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
            }
            sends = sorted.count
            p50Milliseconds = percentile(0.5)
            p95Milliseconds = percentile(0.95)
            p99Milliseconds = percentile(0.99)
            maxMilliseconds = sorted.last ?? 0
        }

        var line: String {
            let values = [p50Milliseconds, p95Milliseconds, p99Milliseconds, maxMilliseconds].map { String(format: "%.0f", $0) }
            return "\(sends) sends; age of the state at send, ms: p50 \(values[0]), p95 \(values[1]), p99 \(values[2]), max \(values[3])"
        }
    }

    var tokens: Int
    var updates: Ages
    var updatesToSlowTokens: Ages
    var updatesDuringStarts: Ages
    var starts: Int
    var startSeconds: Double
    var repeatedStarts: Int
    var outOfOrder: Int
    var overlapping: Int
    /// Living tokens whose last request did not carry the newest state.
    var behindAtTheEnd: Int
    var deadTokensEnded: Int
    /// Requests without a row, or rows without a request; must be 0.
    var attemptsMissing: Int

    init(_ settings: LiveBench.Settings, alone: PacedAPNs.Tally, both: PacedAPNs.Tally, pool: PostgresPool, apns: PacedAPNs) async throws {
        tokens = settings.tokens
        updates = Ages(alone.ages)
        updatesToSlowTokens = Ages(alone.slowAges)
        updatesDuringStarts = Ages(Array(both.ages.dropFirst(alone.ages.count)))
        starts = both.starts
        startSeconds =
            zip([both.lastStart].compactMap(\.self), [both.firstStart].compactMap(\.self)).map { ($0 - $1) / .seconds(1) }.first ?? 0
        let end = apns.tally
        repeatedStarts = end.repeatedStarts
        outOfOrder = end.outOfOrder
        overlapping = end.overlapping
        let newest = end.newest.values.max() ?? 0
        behindAtTheEnd = (0..<settings.tokens).filter { !apns.isDead($0) && end.newest[$0] != newest }.count
        deadTokensEnded = try await pool.query(
            "SELECT count(*) FROM liveActivities WHERE matchId = 'on' AND endReason = 'token_invalid'"
        )[0].decode(Int.self)
        attemptsMissing = end.updates + end.starts - (try await LiveBenchReport.rows(pool))
    }

    static func rows(_ pool: PostgresPool) async throws -> Int {
        try await pool.query("SELECT count(*) FROM notificationDeliveryAttempts")[0].decode(Int.self)
    }

    var text: String {
        """
        \(tokens) tokens, 5 % slow, 2 % dead
        updates:            \(updates.line)
        to slow tokens:     \(updatesToSlowTokens.line)
        next to the starts:  \(updatesDuringStarts.line)
        starts:             \(starts) in \(String(format: "%.1f", startSeconds)) s, \(repeatedStarts) sent twice
        order:              \(outOfOrder) older after newer, \(overlapping) overlapping, \(behindAtTheEnd) living tokens not on the newest state
        dead tokens ended:  \(deadTokensEnded)
        attempts:           \(attemptsMissing) requests without a row
        """
    }
}
