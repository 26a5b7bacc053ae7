import HTTPServer
import PushContract
import ServiceKit

/// The answer to `GET /live/{type}/{id}`.
struct SubjectDocument: Encodable, Sendable {
    var type: String
    var id: String
    /// `live` or `ended`; of a match its phase.
    var phase: String
    var contentState: JSONValue?
    var seq: Int64
    var stateAt: Timestamp
    /// When its source last confirmed the state, for how many seconds that is valid, and the state of the source; nil: no source confirms
    /// its states.
    var confirmedAt: Timestamp?
    var freshFor: Int64?
    var feed: FeedState?
    var endedAt: Timestamp?
    var followers: Int
    /// Devices by their newest activity.
    var activities: Counts
    /// Followers' devices that show no Live Activities, and the latest sends to them.
    var otherDevices: SubjectOverviewStore.OtherDevices
    var devices: [Device]
    /// The next page's `after`.
    var next: String?

    struct Counts: Encodable, Sendable {
        var active: Int
        var pending: Int
        var ended: Int
    }

    struct Device: Encodable, Sendable {
        var userId: String
        /// Nil: the follower has no device.
        var deviceId: String?
        var following: Bool
        /// What it gets of the subject; nil without a device.
        var receives: DeviceReceives?
        var shows: String
        var since: Timestamp?
        /// Of what it shows, if the device was sent it.
        var sentAt: Timestamp?
        var status: ActivityStatus?
        var instance: Int?
        var endReason: EndReason?
        var endCause: String?
        /// Why it does not show the newest state.
        var reason: String?
        var nextStartAt: Timestamp?
        /// The newest push to a device that shows no Live Activities.
        var push: PushStatus.Delivery?
    }

    init(
        type: String,
        id: String,
        _ subject: SubjectOverviewStore.Subject,
        _ entries: [SubjectOverviewStore.Entry],
        _ otherDevices: SubjectOverviewStore.OtherDevices,
        _ policy: OtherDevicesPolicy,
        next: String?,
        now: Timestamp
    ) {
        self.type = type
        self.id = id
        phase = subject.phase
        contentState = try? JSONParser.parse(Array(subject.contentState.utf8))
        seq = subject.seq
        stateAt = subject.builtAt
        if let (freshness, silentAfter) = subject.source {
            confirmedAt = freshness.confirmedAt
            freshFor = freshness.freshFor.components.seconds
            feed = FeedState(isLive: subject.isLive, freshness, silentAfter: silentAfter, now: now)
        }
        endedAt = subject.endedAt
        followers = subject.followers
        activities = Counts(active: subject.active, pending: subject.pending, ended: subject.ended)
        self.otherDevices = otherDevices
        devices = entries.map { Device($0, subject, policy, now: now) }
        self.next = next
    }
}

extension SubjectDocument.Device {
    fileprivate init(
        _ entry: SubjectOverviewStore.Entry,
        _ subject: SubjectOverviewStore.Subject,
        _ policy: OtherDevicesPolicy,
        now: Timestamp
    ) {
        let isFresh = subject.source?.freshness.isFresh(now: now) ?? true
        let status = SubjectStatus(
            entry.activity,
            on: entry.device,
            timestamp: subject.timestamp,
            isLive: subject.isLive,
            isFresh: isFresh,
            now: now
        )
        let hasActivity = entry.activity.map { $0.status != .ended } ?? false
        self.init(
            userId: entry.userId,
            deviceId: entry.deviceId.isEmpty ? nil : entry.deviceId,
            following: entry.isFollowing,
            shows: status.shows.rawValue,
            since: status.since,
            sentAt: entry.activity?.lastSentAt,
            status: entry.activity?.status,
            instance: entry.activity?.instance,
            endReason: entry.activity?.endReason,
            endCause: entry.endCause,
            reason: status.reason?.rawValue,
            nextStartAt: status.nextStartAt
        )
        guard let platform = entry.platform, let push = entry.push else { return }
        let receives = DeviceReceives(platform, showsActivities: hasActivity || entry.device?.canStart == true, policy)
        self.receives = receives
        switch receives {
        case .liveActivity, .nothing: return
        case .liveUpdate:
            let (shows, reason) = push.shows(timestamp: subject.timestamp, isLive: subject.isLive)
            (self.shows, self.reason) = (shows.rawValue, reason?.rawValue)
        case .keyEvents where !push.hasToken: reason = SubjectStatus.Reason.noPushToken.rawValue
        // Of an iOS device it says why it has no Live Activity.
        case .keyEvents: if platform != .ios { reason = SubjectStatus.Reason.keyEventsOnly.rawValue }
        }
        self.push = push.newest
        sentAt = push.sentAt
    }
}
