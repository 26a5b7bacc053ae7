package import PushContract

/// What a writer said last about itself, and whether it has something new to say.
package struct WriterReport: Sendable, Hashable {
    /// Nil before the first word.
    package var reportedAt: Timestamp?
    /// When the oldest outcome was made that it held.
    package var uncommittedSince: Timestamp?

    package init(reportedAt: Timestamp? = nil, uncommittedSince: Timestamp? = nil) {
        self.reportedAt = reportedAt
        self.uncommittedSince = uncommittedSince
    }

    /// At once when what it holds has changed: rules wait for it, or need not any more. Else so often that no minute passes without a word.
    package func isDue(_ waiting: Timestamp?, at now: Timestamp, interval: Duration) -> Bool {
        guard let reportedAt else { return true }
        return waiting != uncommittedSince || now - reportedAt >= interval
    }
}
