import AlertRules
import Attempts
import Postgres
import PushContract

/// Who has the failures: the values with the most of them beyond what the hour before lets expect.
enum ContributorRanking {
    static let limit = 5
    private static let minutesBefore = 60

    static func read(
        _ rule: AlertRule,
        group: GroupKey,
        window: WindowCounts,
        on session: any PostgresSession
    ) async throws -> [Contributor] {
        let shares = try await RollupStore.shares(
            rule.selection(in: group),
            before: (window.first - minutesBefore).timestamp,
            from: window.first.timestamp,
            to: (window.last + 1).timestamp,
            on: session
        )
        return rank(shares)
    }

    /// A value that all traffic has says nothing and is left out.
    static func rank(_ shares: [RollupShare]) -> [Contributor] {
        let whole = shares.filter { $0.dimension == .provider }
        let attempts = whole.reduce(0) { $0 + $1.attempts }
        let before = whole.reduce(0) { $0 + $1.attemptsBefore }
        let healthy = before > 0 ? Double(whole.reduce(0) { $0 + $1.badBefore }) / Double(before) : 0
        let total = Double(whole.reduce(0) { $0 + $1.bad }) - healthy * Double(attempts)
        guard total > 0 else { return [] }
        let ranked = shares.compactMap { share -> Contributor? in
            let excess = Double(share.bad) - healthy * Double(share.attempts)
            guard share.attempts < attempts, !share.value.isEmpty, excess >= 1 else { return nil }
            return Contributor(
                dimension: share.dimension.rawValue,
                value: share.value,
                attempts: share.attempts,
                bad: share.bad,
                excess: Int64(excess.rounded()),
                excessShare: min(1, excess / total)
            )
        }
        return Array(ranked.sorted { ($1.excess, $0.dimension, $0.value) < ($0.excess, $1.dimension, $1.value) }.prefix(limit))
    }
}
