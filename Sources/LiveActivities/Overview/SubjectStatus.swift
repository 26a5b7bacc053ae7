import PushContract

/// What one device shows of a subject, since when, and why not. Pure: derived from what is stored.
struct SubjectStatus: Sendable, Hashable {
    /// What the lock screen shows, as far as the server can know.
    enum Shows: String, Sendable, Hashable, CaseIterable {
        case newest
        /// The newest state is on its way, or could not be sent yet.
        case older
        /// The last state, until it is dismissed.
        case last
        /// A start was accepted. The device may show it; it has not said so.
        case unknown
        case nothing
    }

    /// Why it does not show the newest state. An activity that ended has its `endReason` instead.
    enum Reason: String, Sendable, Hashable, CaseIterable {
        case updateWaiting, waitsForToken, tokenMissing, startQueued, startDue, startPostponed, noStartToken
        case noDevice, notSupported, subjectNotLive
        /// Its state is out of date: nothing is started before the source is back.
        case feedSilent
        /// Of devices that show no Live Activities: the provider called the push token dead, or the app unregistered it; it shows no state.
        case noPushToken, keyEventsOnly
    }

    /// The newest activity on a device.
    struct Activity: Sendable, Hashable {
        var instance: Int
        var status: ActivityStatus
        var endReason: EndReason?
        var createdAt: Timestamp
        var nextStartAt: Timestamp?
        var startAcceptedAt: Timestamp?
        var activatedAt: Timestamp?
        var endedAt: Timestamp?
        /// `aps.timestamp` of what it was last sent, by its token or the channel it listens to.
        var lastTimestamp: Int64
        var lastSentAt: Timestamp?
        /// A start is in the send queue.
        var isQueued: Bool
    }

    /// What is known of a device.
    struct Device: Sendable, Hashable {
        /// An iOS device with APNs.
        var isSupported: Bool
        /// It has a usable start token and iOS 17.2 or newer.
        var canStart: Bool
    }

    var shows: Shows
    /// Since when the activity is as it is; nil without one.
    var since: Timestamp?
    var reason: Reason?
    /// When it is tried next; nil: as soon as can be, or not at all.
    var nextStartAt: Timestamp?

    /// - Parameters:
    ///   - device: nil: none is registered.
    ///   - timestamp: `aps.timestamp` of the subject's newest state.
    ///   - isFresh: of that state.
    init(_ activity: Activity?, on device: Device?, timestamp: Int64, isLive: Bool, isFresh: Bool = true, now: Timestamp) {
        shows = .nothing
        guard let activity else {
            reason = SubjectStatus.missing(device, isLive: isLive, isFresh: isFresh)
            return
        }
        switch activity.status {
        case .active:
            since = activity.activatedAt ?? activity.createdAt
            shows = activity.lastTimestamp >= timestamp ? .newest : .older
            if shows == .older { reason = .updateWaiting }
        case .ended:
            since = activity.endedAt
            if activity.endReason?.concernsAll == true { shows = .last }
        case .pending:
            since = activity.startAcceptedAt ?? activity.createdAt
            if activity.startAcceptedAt != nil { shows = .unknown }
            if let next = activity.nextStartAt, next > now { nextStartAt = next }
            reason = pending(activity, SubjectStatus.missing(device, isLive: isLive, isFresh: isFresh))
        }
    }

    private func pending(_ activity: Activity, _ missing: Reason?) -> Reason {
        if activity.isQueued { return .startQueued }
        // Its grace: one more start after it, then none.
        if activity.startAcceptedAt != nil { return activity.nextStartAt == nil ? .tokenMissing : .waitsForToken }
        if let missing, missing != .startDue { return missing }
        return nextStartAt == nil ? .startDue : .startPostponed
    }

    /// Why nothing was started.
    private static func missing(_ device: Device?, isLive: Bool, isFresh: Bool) -> Reason? {
        guard let device else { return .noDevice }
        guard device.isSupported else { return .notSupported }
        guard device.canStart else { return .noStartToken }
        guard isLive else { return .subjectNotLive }
        return isFresh ? .startDue : .feedSilent
    }
}
