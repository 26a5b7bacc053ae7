package import PushContract

/// What a writer said last about itself, and whether it has something new to say.
package struct WriterReport: Sendable, Hashable {
    /// Nil before the first word.
    package var reportedAt: Timestamp?
    /// The time of its oldest uncommitted outcome.
    package var uncommittedSince: Timestamp?

    package init(reportedAt: Timestamp? = nil, uncommittedSince: Timestamp? = nil) {
        self.reportedAt = reportedAt
        self.uncommittedSince = uncommittedSince
    }

    /// At once when the uncommitted outcomes change, since rules wait for them; otherwise so often that every minute has a report.
    package func isDue(_ waiting: Timestamp?, at now: Timestamp, interval: Duration) -> Bool {
        guard let reportedAt else { return true }
        return waiting != uncommittedSince || now - reportedAt >= interval
    }
}
