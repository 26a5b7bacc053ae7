import PushContract

/// What a writer said last about itself, and whether it has something new to say.
struct WriterReport: Sendable, Hashable {
    /// Nil before the first word.
    var reportedAt: Timestamp?
    /// The time of its oldest uncommitted outcome.
    var uncommittedSince: Timestamp?

    /// At once when the uncommitted outcomes change, since rules wait for them; otherwise so often that every minute has a report.
    func isDue(_ waiting: Timestamp?, at now: Timestamp, interval: Duration) -> Bool {
        guard let reportedAt else { return true }
        return waiting != uncommittedSince || now - reportedAt >= interval
    }
}
