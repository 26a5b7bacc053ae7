import PushContract

/// Whether no instance writes attempts although traffic is expected: a pure function of heartbeats and traffic.
///
/// A gap resolves nothing and fires no rule, so without this alert a dead writer looks like a quiet night.
struct DataGap: Sendable, Hashable {
    /// Silence of all writers after which the alert fires.
    static let limit = Duration.seconds(300)
    /// A heartbeat at most this old ends the alert.
    static let fresh = Duration.seconds(120)
    /// Outcomes within an hour that make traffic expected.
    static let expectedAttempts: Int64 = 10

    /// The newest heartbeat; nil when no writer ever had one.
    var newestHeartbeat: Timestamp?
    /// The time of the oldest outcome a writer reports as uncommitted; nil when there is none.
    var uncommittedSince: Timestamp?
    /// Since when this evaluator runs: time before does not count, so that a start of the whole service after a pause pages nobody.
    var observedSince: Timestamp
    /// Outcomes in the hour before the silence, and around the same time a day and a week before.
    var comparableAttempts: [Int64]

    var isExpected: Bool { comparableAttempts.contains { $0 >= Self.expectedAttempts } }

    /// Uncommitted outcomes are traffic: no other sign of expected traffic is needed.
    func hasUncommitted(wasFiring: Bool, at now: Timestamp) -> Bool {
        uncommittedSince.map { now - $0 >= (wasFiring ? Self.fresh : Self.limit) } ?? false
    }

    func isFiring(wasFiring: Bool, at now: Timestamp) -> Bool {
        if hasUncommitted(wasFiring: wasFiring, at: now) { return true }
        guard let newestHeartbeat else { return wasFiring }
        if wasFiring { return now - newestHeartbeat > Self.fresh }
        return isExpected && now - max(newestHeartbeat, observedSince) >= Self.limit
    }
}
