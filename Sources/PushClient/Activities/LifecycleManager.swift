public import PushContract

/// The activities on this device: adopted when a push started them, restored after a relaunch, ended when they go stale. A value.
///
/// The app sets a cause before it ends an activity itself, so that its own end is not taken for a person's swipe.
public struct LifecycleManager: Codable, Sendable, Hashable {
    /// An activity that is known.
    public struct Tracked: Codable, Sendable, Hashable {
        /// The system's id.
        public var activityId: String
        /// Which match it shows.
        public var matchId: String
        /// Which start of the server's it is; nil when the app started it.
        public var instance: Int?
        /// Since when it is known here.
        public var adoptedAt: Timestamp
        /// When new content last arrived.
        public var lastUpdateAt: Timestamp
        /// Set before the app ends it.
        public var endCause: DismissalCause?
    }

    /// What to do.
    public enum Step: Sendable, Hashable {
        /// Take it off the screen.
        case end(activityId: String)
        /// Tell the server that it is gone.
        case report(matchId: String, instance: Int?, DismissalCause)
        /// The person does not want the match any more.
        case unfollow(matchId: String)
    }

    /// After so long without an update an activity is ended on the device.
    public static let staleAfter = Duration.seconds(1800)

    /// What is on the screen, oldest first.
    public private(set) var tracked: [Tracked] = []

    /// A device without activities.
    public init() {}

    /// The activities that the system has, after a launch: unknown ones are adopted, vanished ones forgotten and reported.
    public mutating func restore(_ present: [SystemActivity], now: Timestamp) -> [Step] {
        let ids = Set(present.map(\.activityId))
        let vanished = tracked.filter { !ids.contains($0.activityId) }
        tracked.removeAll { !ids.contains($0.activityId) }
        // While the app was not running nobody saw why: the system may have ended it just as well.
        let reports = vanished.map { Step.report(matchId: $0.matchId, instance: $0.instance, $0.endCause ?? .system) }
        return reports + present.flatMap { adopt($0, now: now) } + check(now: now)
    }

    /// One that appeared: the app requested it, or a push started it. An older one of the same match goes, after the new one is there.
    public mutating func adopt(_ activity: SystemActivity, now: Timestamp) -> [Step] {
        if tracked.contains(where: { $0.activityId == activity.activityId }) { return [] }
        let older = tracked.filter { $0.matchId == activity.matchId && $0.endCause == nil }
        tracked.append(
            Tracked(
                activityId: activity.activityId,
                matchId: activity.matchId,
                instance: activity.instance,
                adoptedAt: now,
                lastUpdateAt: now
            )
        )
        return older.flatMap { end($0.activityId, cause: .system) }
    }

    /// New content arrived.
    public mutating func updated(_ activityId: String, now: Timestamp) {
        guard let index = tracked.firstIndex(where: { $0.activityId == activityId }) else { return }
        tracked[index].lastUpdateAt = max(tracked[index].lastUpdateAt, now)
    }

    /// The app ends it: flagged first, so that what the system then reports is not a swipe.
    public mutating func end(_ activityId: String, cause: DismissalCause) -> [Step] {
        guard let index = tracked.firstIndex(where: { $0.activityId == activityId }), tracked[index].endCause == nil else { return [] }
        tracked[index].endCause = cause
        return [.end(activityId: activityId)]
    }

    /// The same for all of a match, or all there are.
    public mutating func endAll(matchId: String? = nil, cause: DismissalCause) -> [Step] {
        tracked.filter { matchId == nil || $0.matchId == matchId }.flatMap { end($0.activityId, cause: cause) }
    }

    /// The system says that it is gone.
    ///
    /// - Parameter isDismissed: it was taken off the screen, rather than ended by a push or by age.
    public mutating func gone(_ activityId: String, isDismissed: Bool) -> [Step] {
        guard let index = tracked.firstIndex(where: { $0.activityId == activityId }) else { return [] }
        let activity = tracked.remove(at: index)
        let cause = activity.endCause ?? (isDismissed ? .user : .system)
        let report = Step.report(matchId: activity.matchId, instance: activity.instance, cause)
        return cause == .user ? [report, .unfollow(matchId: activity.matchId)] : [report]
    }

    /// Ends what had no update for half an hour. Call at each foreground.
    public mutating func check(now: Timestamp) -> [Step] {
        tracked.filter { $0.endCause == nil && now - $0.lastUpdateAt >= Self.staleAfter }.flatMap { end($0.activityId, cause: .stale) }
    }

    /// Whether an activity of this match is on the screen.
    public func isActive(_ matchId: String) -> Bool { tracked.contains { $0.matchId == matchId && $0.endCause == nil } }
}
