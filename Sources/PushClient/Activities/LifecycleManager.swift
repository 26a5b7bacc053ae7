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
        /// When the app saw it last. Nil if an older version stored it: when it was adopted.
        public var seenAt: Timestamp?
        /// Set before the app ends it.
        public var endCause: DismissalCause?

        /// Whether only a swipe explains that it is missing. The system removes an activity that is 8 hours old, and all of them when the
        /// device restarts.
        func isSwiped(now: Timestamp, boot: Timestamp?) -> Bool {
            guard endCause == nil, let boot else { return false }
            let seen = seenAt ?? adoptedAt
            // A clock that was set back says nothing about ages.
            guard adoptedAt <= seen, seen <= now else { return false }
            return boot <= seen && now - adoptedAt < LifecycleManager.systemLimit
        }
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

    /// The system itself ends an activity that is this old.
    public static let systemLimit = Duration.seconds(8 * 3600)

    /// What is on the screen, oldest first.
    public private(set) var tracked: [Tracked] = []

    /// A device without activities.
    public init() {}

    /// Compares with the system's activities after a launch: unknown ones are adopted, missing ones removed and reported.
    ///
    /// - Parameter boot: When the device was started; nil if that is not known, and then no missing activity counts as swiped away.
    public mutating func restore(_ present: [SystemActivity], now: Timestamp, boot: Timestamp? = nil) -> [Step] {
        let ids = Set(present.map(\.activityId))
        let subjects = Set(present.map(\.subject))
        let missing = tracked.filter { !ids.contains($0.activityId) }
        tracked.removeAll { !ids.contains($0.activityId) }
        // The app was not running, so the cause was not reported. A push may have ended it, too: the server knows that of what it started.
        // Without the number of the start it would take the report for one about the newer activity of the subject.
        let reports = missing.flatMap { activity -> [Step] in
            let isKnown = activity.instance != nil || !subjects.contains(activity.subject)
            let isSwiped = isKnown && activity.isSwiped(now: now, boot: boot)
            return Self.report(activity, activity.endCause ?? (isSwiped ? .user : .system))
        }
        return reports + check(present, now: now)
    }

    /// An activity appeared: the app requested it, or a push started it. An older one of the same subject is ended after the new one
    /// exists.
    public mutating func adopt(_ activity: SystemActivity, now: Timestamp) -> [Step] {
        if let index = tracked.firstIndex(where: { $0.activityId == activity.activityId }) {
            tracked[index].seenAt = now
            return []
        }
        let older = tracked.filter { $0.subject == activity.subject && $0.endCause == nil }
        tracked.append(
            Tracked(
                activityId: activity.activityId,
                subject: activity.subject,
                instance: activity.instance,
                adoptedAt: now,
                seenAt: now
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
        return Self.report(activity, cause)
    }

    /// A swipe is an unfollow.
    private static func report(_ activity: Tracked, _ cause: DismissalCause) -> [Step] {
        let report = Step.report(activity.subject, instance: activity.instance, cause)
        return cause == .user ? [report, .unfollow(activity.subject)] : [report]
    }

    /// Compares with what is on the screen at a foreground: unknown activities are adopted, those with content older than half an hour
    /// ended.
    public mutating func check(_ present: [SystemActivity], now: Timestamp) -> [Step] {
        let adopted = present.flatMap { adopt($0, now: now) }
        let stale = present.filter { activity in activity.contentDate.map { now - $0 >= Self.staleAfter } ?? false }
        return adopted + stale.flatMap { end($0.activityId, cause: .stale) }
    }

    /// Whether an activity of this subject is on the screen.
    public func isActive(_ subject: ActivitySubject) -> Bool { tracked.contains { $0.subject == subject && $0.endCause == nil } }
}
