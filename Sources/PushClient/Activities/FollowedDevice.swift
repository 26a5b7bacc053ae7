public import PushContract

/// The state of a followed subject on one of the user's devices, as the server answered last.
public struct FollowedDevice: Sendable, Hashable {
    /// What the device gets of the subject.
    public enum Receives: String, Sendable, Hashable, CaseIterable {
        /// A Live Activity.
        case liveActivity
        /// On Android a data message with each state.
        case liveUpdate
        /// A push for each state with an alert.
        case keyEvents
        /// Nothing.
        case nothing
    }

    /// The state of its Live Activity.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The device has it.
        case shown
        /// It is being started.
        case starting
        /// It will be started.
        case waiting
        /// It was there, or the subject is over.
        case ended
        /// The device gets pushes instead.
        case pushed
        /// It cannot be started, and the device gets no pushes instead.
        case unavailable
    }

    /// The device.
    public let deviceId: String
    /// What it gets; nil: something that this version does not know.
    public let receives: Receives?
    /// The state of its activity; nil: one that this version does not know.
    public let state: State?
    /// Why it is not shown, such as `startBudget`, `notLive` or `noStartToken` (`StartStatus` of the HTTP document).
    public let reason: String?
    /// When it is started, as far as is known.
    public let startsAt: Timestamp?
    /// Shown, or ended, since.
    public let since: Timestamp?
}

/// It as the server sends it, with the subject that it is about.
struct FollowedDeviceDocument: Decodable {
    let subject: ActivitySubject
    let device: FollowedDevice

    private enum CodingKeys: String, CodingKey { case matchId, deviceId, receives, state, reason, startsAt, since }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        subject = ActivitySubject(name: try container.decode(String.self, forKey: .matchId))
        device = FollowedDevice(
            deviceId: try container.decode(String.self, forKey: .deviceId),
            receives: FollowedDevice.Receives(rawValue: try container.decode(String.self, forKey: .receives)),
            state: FollowedDevice.State(rawValue: try container.decode(String.self, forKey: .state)),
            reason: try container.decodeIfPresent(String.self, forKey: .reason),
            startsAt: try container.decodeIfPresent(Timestamp.self, forKey: .startsAt),
            since: try container.decodeIfPresent(Timestamp.self, forKey: .since)
        )
    }
}
