import PushContract

/// Whether nobody writes attempts although there should be some: a pure function of heartbeats and traffic.
///
/// A gap resolves nothing and fires no rule, so without this alert a dead writer looks like a quiet night.
struct DataGap: Sendable, Hashable {
    /// Silence of all writers after which somebody is told.
    static let limit = Duration.seconds(300)
    /// A heartbeat at most this old ends the alert.
    static let fresh = Duration.seconds(120)
    /// Outcomes within an hour that make traffic expected.
    static let expectedAttempts: Int64 = 10

    /// The newest heartbeat; nil when no writer ever had one.
    var newestHeartbeat: Timestamp?
    /// When the oldest outcome was made that a writer says it holds and could not store; nil when none holds any.
    var uncommittedSince: Timestamp?
    /// Since when this evaluator looks: silence before that is told as soon as it has looked long enough itself, so that a start of
    /// the whole service after a night off pages nobody.
    var observedSince: Timestamp
    /// Outcomes in the hour before the silence, and around the same time a day and a week before.
    var comparableAttempts: [Int64]

    var isExpected: Bool { comparableAttempts.contains { $0 >= Self.expectedAttempts } }

    /// What is held is traffic: nothing else need tell that some is expected.
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
