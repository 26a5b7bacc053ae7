public import PushContract

/// The activities on this device: adopted when a push started them, restored after a relaunch, ended when they go stale. A value.
///
/// The app sets a cause before it ends an activity itself, so that the end is not mistaken for a dismissal by the user.
public struct LifecycleManager: Codable, Sendable, Hashable {
    /// A known activity.
    public struct Tracked: Codable, Sendable, Hashable {
        /// The system's id.
        public var activityId: String
        /// The match it shows.
        public var matchId: String
        /// The number of the server's start; nil if the app started it.
        public var instance: Int?
        /// When it became known here.
        public var adoptedAt: Timestamp
        /// When new content last arrived.
        public var lastUpdateAt: Timestamp
        /// Set before the app ends it.
        public var endCause: DismissalCause?
    }

    /// What to do.
    public enum Step: Sendable, Hashable {
        /// Remove it from the screen.
        case end(activityId: String)
        /// Report its end to the server.
        case report(matchId: String, instance: Int?, DismissalCause)
        /// The user does not want the match any more.
        case unfollow(matchId: String)
    }

    /// An activity without an update for this long is ended on the device.
    public static let staleAfter = Duration.seconds(1800)

    /// What is on the screen, oldest first.
    public private(set) var tracked: [Tracked] = []

    /// A device without activities.
    public init() {}

    /// Compares with the system's activities after a launch: unknown ones are adopted, missing ones removed and reported.
    public mutating func restore(_ present: [SystemActivity], now: Timestamp) -> [Step] {
        let ids = Set(present.map(\.activityId))
        let missing = tracked.filter { !ids.contains($0.activityId) }
        tracked.removeAll { !ids.contains($0.activityId) }
        // The app was not running, so the cause is unknown: the system may have ended it.
        let reports = missing.map { Step.report(matchId: $0.matchId, instance: $0.instance, $0.endCause ?? .system) }
        return reports + present.flatMap { adopt($0, now: now) } + check(now: now)
    }

    /// An activity appeared: the app requested it, or a push started it. An older one of the same match is ended after the new one exists.
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

    /// The app ends an activity; the cause is set first, so that the system's report is not mistaken for a dismissal.
    public mutating func end(_ activityId: String, cause: DismissalCause) -> [Step] {
        guard let index = tracked.firstIndex(where: { $0.activityId == activityId }), tracked[index].endCause == nil else { return [] }
        tracked[index].endCause = cause
        return [.end(activityId: activityId)]
    }

    /// The same for all activities of a match, or for all.
    public mutating func endAll(matchId: String? = nil, cause: DismissalCause) -> [Step] {
        tracked.filter { matchId == nil || $0.matchId == matchId }.flatMap { end($0.activityId, cause: cause) }
    }

    /// The system reports that an activity ended.
    ///
    /// - Parameter isDismissed: Whether the user removed it, rather than a push or its age ended it.
    public mutating func gone(_ activityId: String, isDismissed: Bool) -> [Step] {
        guard let index = tracked.firstIndex(where: { $0.activityId == activityId }) else { return [] }
        let activity = tracked.remove(at: index)
        let cause = activity.endCause ?? (isDismissed ? .user : .system)
        let report = Step.report(matchId: activity.matchId, instance: activity.instance, cause)
        return cause == .user ? [report, .unfollow(matchId: activity.matchId)] : [report]
    }

    /// Ends activities without an update for half an hour. Call at each foreground.
    public mutating func check(now: Timestamp) -> [Step] {
        tracked.filter { $0.endCause == nil && now - $0.lastUpdateAt >= Self.staleAfter }.flatMap { end($0.activityId, cause: .stale) }
    }

    /// Whether an activity of this match is on the screen.
    public func isActive(_ matchId: String) -> Bool { tracked.contains { $0.matchId == matchId && $0.endCause == nil } }
}
