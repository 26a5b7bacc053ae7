package import PushContract

/// The state of the activity of a followed subject on one device: shown, on its way, or why not.
package struct StartStatus: Sendable, Hashable, Encodable {
    package enum State: String, Sendable, Hashable, CaseIterable, Encodable {
        /// The device has it.
        case shown
        /// It is being started.
        case starting
        /// It will be started.
        case waiting
        /// It was there, or the subject is over.
        case ended
        /// Not started: the device gets pushes instead (`receives`).
        case pushed
        /// It cannot be started by a push, and the device gets no pushes instead.
        case unavailable
    }

    package enum Reason: String, Sendable, Hashable, CaseIterable, Encodable {
        /// The subject is not live.
        case notLive
        /// The device was started as often as it may be, or more important subjects go first.
        case startBudget
        /// The score is out of date: nothing is started before the feed is back.
        case feedSilent
        /// The app starts it by itself, or it ended for a dead token and is started again later.
        case later
        /// Sent; the user has not answered, or the app has not handed in the token.
        case noUpdateToken
        /// No usable push-to-start token: another platform, an older system, a token that was rejected, or none.
        case noStartToken
        /// The push token is dead, or the app unregistered it.
        case noPushToken
        case matchEnd = "match_end"
        case userUnfollow = "user_unfollow"
        case userDismissed = "user_dismissed"
        case tokenInvalid = "token_invalid"
        case deviceUnregistered = "device_unregistered"
        case rolledOver = "rolled_over"
        case stumps
    }

    package var subject: String
    package var deviceId: String
    package var receives = DeviceReceives.liveActivity
    package var state: State
    package var reason: Reason?
    /// When it is started, as far as is known: of a match that is not live its planned start.
    package var startsAt: Timestamp?
    /// Shown, or ended, since.
    package var since: Timestamp?

    private enum CodingKeys: String, CodingKey {
        case subject = "matchId"
        case deviceId, receives, state, reason, startsAt, since
    }
}

/// What is known of a follow on one device. Pure.
struct FollowedActivity: Sendable, Hashable {
    var subject: String
    var deviceId: String
    /// These four order it among those of the device.
    var isRepeated = false
    var priority: Int16
    var position: Int16
    var followedAt: Timestamp
    var isLive: Bool
    /// The subject is over.
    var isOver = false
    var isFresh: Bool
    var isUsable: Bool
    var receives = DeviceReceives.liveActivity
    var isIOS = true
    /// Of the device's push token.
    var hasPushToken = true
    var plannedAt: Timestamp?
    var status: ActivityStatus?
    var endReason: String?
    var nextStartAt: Timestamp?
    var startSentAt: Timestamp?
    var activatedAt: Timestamp?
    var endedAt: Timestamp?
    /// A dead token ended it, and it is started again.
    var isRestarted = false

    func isDue(now: Timestamp) -> Bool {
        status == .pending && isLive && isFresh && isUsable && nextStartAt.map { $0 <= now + StartOrder.pause } ?? false
    }

    /// The state of each. All are of one device, whose starts of the last day are given.
    static func statuses(_ all: [FollowedActivity], starts: [Timestamp], _ policy: StartPolicy, now: Timestamp) -> [StartStatus] {
        let due = all.filter { $0.isDue(now: now) }.sorted {
            ($0.isRepeated ? 1 : 0, $0.priority, $0.position, $0.followedAt, $0.subject)
                < ($1.isRepeated ? 1 : 0, $1.priority, $1.position, $1.followedAt, $1.subject)
        }
        return all.map { followed in
            var status = StartStatus(subject: followed.subject, deviceId: followed.deviceId, receives: followed.receives, state: .starting)
            if let position = due.firstIndex(of: followed) {
                let next = StartEstimate.next(after: starts, waiting: position, policy, now: now)
                if next > now { (status.state, status.reason, status.startsAt) = (.waiting, .startBudget, next) }
                return status
            }
            (status.state, status.reason) = followed.current(now: now)
            switch status.state {
            case .shown: status.since = followed.activatedAt
            case .ended: status.since = followed.endedAt
            case .waiting: status.startsAt = followed.start(after: status.reason, now: now)
            case .starting, .pushed, .unavailable: break
            }
            return status
        }
    }

    /// When that which waits for this reason is started, as far as is known.
    private func start(after reason: StartStatus.Reason?, now: Timestamp) -> Timestamp? {
        switch reason {
        case .notLive: plannedAt
        case .feedSilent: nil
        default: nextStartAt.flatMap { $0 > now ? $0 : nil }
        }
    }

    private func current(now: Timestamp) -> (StartStatus.State, StartStatus.Reason?) {
        switch status {
        case .active: return (.shown, nil)
        case .ended where isOver || !isRestarted: return (.ended, endReason.flatMap(StartStatus.Reason.init))
        case .ended, .pending, nil: break
        }
        if isOver { return (.ended, .matchEnd) }
        if receives == .liveUpdate || receives == .keyEvents, !hasPushToken { return (.unavailable, .noPushToken) }
        guard isLive else { return (.waiting, .notLive) }
        if receives == .liveUpdate || receives == .keyEvents { return (.pushed, isIOS ? .noStartToken : nil) }
        guard isUsable else { return (.unavailable, .noStartToken) }
        guard isFresh else { return (.waiting, .feedSilent) }
        if status == .ended { return (.waiting, .later) }
        if status == .pending, nextStartAt == nil || startSentAt != nil { return (.starting, startSentAt == nil ? nil : .noUpdateToken) }
        if let nextStartAt, nextStartAt > now { return (.waiting, .later) }
        return (.starting, nil)
    }
}
