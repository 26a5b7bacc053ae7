public import PushContract

/// The activities on this device: adopted when a push started them, restored after a relaunch, ended when they go stale. A value.
///
/// The app sets a cause before it ends an activity itself, so that the end is not mistaken for a dismissal by the user.
public struct LifecycleManager: Codable, Sendable, Hashable {
    /// A known activity.
    public struct Tracked: Codable, Sendable, Hashable {
        /// The system's id.
        public var activityId: String
        /// What it is about.
        public var subject: ActivitySubject
        /// The number of the server's start; nil if the app started it.
        public var instance: Int?
        /// When it became known here.
        public var adoptedAt: Timestamp
        /// Set before the app ends it.
        public var endCause: DismissalCause?
    }

    /// What to do.
    public enum Step: Sendable, Hashable {
        /// Remove it from the screen.
        case end(activityId: String)
        /// Report its end to the server.
        case report(ActivitySubject, instance: Int?, DismissalCause)
        /// The user does not want the subject any more.
        case unfollow(ActivitySubject)
    }

    /// An activity whose content is this old is ended on the device. Pushes that change it do not wake the app, so only the date of the
    /// content counts. The `stale-date` of the server's pushes is the same moment.
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
        let reports = missing.map { Step.report($0.subject, instance: $0.instance, $0.endCause ?? .system) }
        return reports + check(present, now: now)
    }

    /// An activity appeared: the app requested it, or a push started it. An older one of the same subject is ended after the new one exists.
    public mutating func adopt(_ activity: SystemActivity, now: Timestamp) -> [Step] {
        if tracked.contains(where: { $0.activityId == activity.activityId }) { return [] }
        let older = tracked.filter { $0.subject == activity.subject && $0.endCause == nil }
        tracked.append(
            Tracked(
                activityId: activity.activityId,
                subject: activity.subject,
                instance: activity.instance,
                adoptedAt: now
            )
        )
        return older.flatMap { end($0.activityId, cause: .system) }
    }

    /// The app ends an activity; the cause is set first, so that the system's report is not mistaken for a dismissal.
    public mutating func end(_ activityId: String, cause: DismissalCause) -> [Step] {
        guard let index = tracked.firstIndex(where: { $0.activityId == activityId }), tracked[index].endCause == nil else { return [] }
        tracked[index].endCause = cause
        return [.end(activityId: activityId)]
    }

    /// The same for all activities of a subject, or for all.
    public mutating func endAll(_ subject: ActivitySubject? = nil, cause: DismissalCause) -> [Step] {
        tracked.filter { subject == nil || $0.subject == subject }.flatMap { end($0.activityId, cause: cause) }
    }

    /// The same for those of one start: a newer one of the subject stays.
    public mutating func endAll(_ subject: ActivitySubject, instance: Int?, cause: DismissalCause) -> [Step] {
        tracked.filter { $0.subject == subject && $0.instance == instance }.flatMap { end($0.activityId, cause: cause) }
    }

    /// The system reports that an activity ended.
    ///
    /// - Parameter isDismissed: Whether the user removed it, rather than a push or its age ended it.
    public mutating func gone(_ activityId: String, isDismissed: Bool) -> [Step] {
        guard let index = tracked.firstIndex(where: { $0.activityId == activityId }) else { return [] }
        let activity = tracked.remove(at: index)
        let cause = activity.endCause ?? (isDismissed ? .user : .system)
        let report = Step.report(activity.subject, instance: activity.instance, cause)
        return cause == .user ? [report, .unfollow(activity.subject)] : [report]
    }

    /// Compares with what is on the screen at a foreground: unknown activities are adopted, those with content older than half an hour ended.
    public mutating func check(_ present: [SystemActivity], now: Timestamp) -> [Step] {
        let adopted = present.flatMap { adopt($0, now: now) }
        let stale = present.filter { activity in activity.contentDate.map { now - $0 >= Self.staleAfter } ?? false }
        return adopted + stale.flatMap { end($0.activityId, cause: .stale) }
    }

    /// Whether an activity of this subject is on the screen.
    public func isActive(_ subject: ActivitySubject) -> Bool { tracked.contains { $0.subject == subject && $0.endCause == nil } }
}
