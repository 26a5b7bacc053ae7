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
    /// Of a match: when its feed last said that this is the state.
    var confirmedAt: Timestamp?
    var endedAt: Timestamp?
    var followers: Int
    /// Devices by their newest activity.
    var activities: Counts
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
    }

    init(
        type: String,
        id: String,
        _ subject: SubjectOverviewStore.Subject,
        _ entries: [SubjectOverviewStore.Entry],
        next: String?,
        now: Timestamp
    ) {
        self.type = type
        self.id = id
        phase = subject.phase
        contentState = try? JSONParser.parse(Array(subject.contentState.utf8))
        seq = subject.seq
        stateAt = subject.builtAt
        confirmedAt = subject.confirmedAt
        endedAt = subject.endedAt
        followers = subject.followers
        activities = Counts(active: subject.active, pending: subject.pending, ended: subject.ended)
        devices = entries.map { entry in
            let status = SubjectStatus(
                entry.activity,
                on: entry.device,
                timestamp: subject.timestamp,
                isLive: subject.isLive,
                now: now
            )
            return Device(
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
        }
        self.next = next
    }
}
