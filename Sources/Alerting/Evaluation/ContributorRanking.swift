import AlertRules
import Attempts
import Postgres
import PushContract

/// The contributors of an alert: the values with the most failures beyond those expected from the hour before.
enum ContributorRanking {
    static let limit = 5
    private static let minutesBefore = 60

    static func shares(
        _ rule: AlertRule,
        group: GroupKey,
        window: WindowCounts,
        on session: any PostgresSession
    ) async throws -> [RollupShare] {
        try await RollupStore.shares(
            rule.selection(in: group),
            before: (window.first - minutesBefore).timestamp,
            from: window.first.timestamp,
            to: (window.last + 1).timestamp,
            on: session
        )
    }

    /// A value is named when it fails more often than the other traffic; when all fail alike, none is. The reason and the provider's code
    /// are those of failures only, so they are named in any case. The counts of the sample are extrapolated to all traffic.
    ///
    /// - Parameter usual: the share of failures to compare with; nil: that of the time before the window.
    static func rank(_ shares: [RollupShare], _ sample: AttemptSample? = nil, usual: Double? = nil) -> [Contributor] {
        let whole = shares.filter { $0.dimension == .provider }
        let attempts = whole.reduce(0) { $0 + $1.attempts }
        let before = whole.reduce(0) { $0 + $1.attemptsBefore }
        let healthy = usual ?? (before > 0 ? Double(whole.reduce(0) { $0 + $1.badBefore }) / Double(before) : 0)
        let bad = whole.reduce(0) { $0 + $1.bad }
        let total = Double(bad) - healthy * Double(attempts)
        guard total > 0 else { return [] }
        func contributor(
            _ name: String,
            _ value: String,
            _ own: Int64,
            _ ownBad: Int64,
            isEstimated: Bool,
            _ seen: AttemptCounts,
            of all: AttemptCounts
        ) -> Contributor? {
            let excess = Double(ownBad) - healthy * Double(own)
            let isCode = Contributor.why.contains(name)
            let lift = isCode ? nil : Lift(seen, of: all)
            guard !value.isEmpty, excess >= 1, isCode || lift?.isProven == true else { return nil }
            return Contributor(
                dimension: name,
                value: value,
                attempts: own,
                bad: ownBad,
                excess: Int64(excess.rounded()),
                excessShare: min(1, excess / total),
                lift: lift?.value,
                liftAtLeast: lift?.atLeast,
                isEstimated: isEstimated ? true : nil
            )
        }
        let counts = AttemptCounts(attempts: attempts, bad: bad)
        var ranked = shares.compactMap {
            let own = AttemptCounts(attempts: $0.attempts, bad: $0.bad)
            return contributor($0.dimension.rawValue, $0.value, $0.attempts, $0.bad, isEstimated: false, own, of: counts)
        }
        if let sample, sample.attempts > 0, sample.bad > 0 {
            let isEstimated = sample.attempts < attempts
            ranked += sample.shares.compactMap { share in
                // Failures and successes are extrapolated each by its own factor, so that the sum of the failures is right.
                let ownBad = Double(share.bad) * Double(bad) / Double(sample.bad)
                let good = sample.attempts - sample.bad
                let ownGood = good > 0 ? Double(share.attempts - share.bad) * Double(attempts - bad) / Double(good) : 0
                return contributor(
                    share.dimension,
                    share.value,
                    Int64((ownBad + ownGood).rounded()),
                    Int64(ownBad.rounded()),
                    isEstimated: isEstimated,
                    AttemptCounts(attempts: share.attempts, bad: share.bad),
                    of: AttemptCounts(attempts: sample.attempts, bad: sample.bad)
                )
            }
        }
        return first(ranked.sorted { ($1.excess, $0.dimension, $0.value) < ($0.excess, $1.dimension, $1.value) })
    }

    /// The most frequent reason and code are among them, however many values have more of the failures.
    private static func first(_ ranked: [Contributor]) -> [Contributor] {
        let why = Contributor.why.compactMap { name in ranked.first { $0.dimension == name } }
        let others = ranked.filter { !why.contains($0) }.prefix(limit - why.count)
        return ranked.filter { why.contains($0) || others.contains($0) }
    }
}
