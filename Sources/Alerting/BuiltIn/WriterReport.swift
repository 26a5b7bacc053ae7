import PushContract

/// What a writer reported last, and when it is to report again.
struct WriterReport: Sendable, Hashable {
    /// Nil before the first report.
    var reportedAt: Timestamp?
    /// The time of its oldest uncommitted outcome.
    var uncommittedSince: Timestamp?

    /// At once when the uncommitted outcomes change, since rules wait for them; otherwise once an interval.
    func isDue(_ waiting: Timestamp?, at now: Timestamp, interval: Duration) -> Bool {
        guard let reportedAt else { return true }
        return waiting != uncommittedSince || now - reportedAt >= interval
    }
}
