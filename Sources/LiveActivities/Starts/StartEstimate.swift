import PushContract

/// When a device may be started. Pure.
enum StartEstimate {
    /// When the start is due that `waiting` others go before.
    ///
    /// - Parameter starts: those of the last day that count in the device's budget.
    static func next(after starts: [Timestamp], waiting: Int, _ policy: StartPolicy, now: Timestamp) -> Timestamp {
        var starts = starts.sorted()
        var due = now
        for _ in 0...waiting {
            due = max(due, free(starts, policy.perHour, .seconds(3600)) ?? now, free(starts, policy.perDay, .seconds(86_400)) ?? now)
            starts.append(due)
        }
        return due
    }

    /// When fewer than `limit` of the starts lie within `window`; nil: already.
    private static func free(_ starts: [Timestamp], _ limit: Int, _ window: Duration) -> Timestamp? {
        starts.count >= limit ? starts[starts.count - limit] + window : nil
    }
}
