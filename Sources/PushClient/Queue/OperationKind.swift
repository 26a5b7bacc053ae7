import PushContract

/// What an app reports to the server.
public enum OperationKind: Codable, Sendable, Hashable {
    /// `POST /devices`.
    case register
    /// `DELETE /devices/{deviceId}`: the device with everything of it. `keepsFollows` where push is off and the
    /// user stays; nil in the state of older versions.
    case unregister(keepsFollows: Bool? = nil)
    /// `DELETE /devices/{tokenHash}`: that token alone, which its provider has refused.
    case unregisterToken
    /// `POST /devices/push-to-start-token`: for activities of this type; nil: of every type without its own token.
    case startToken(attributesType: String? = nil)
    /// `POST /matches/{matchId}/activity-token`, or `POST /live-activities/{attributesType}/activity-token`.
    case activityToken(ActivitySubject, instance: Int?)
    /// `POST /matches/{matchId}/activity-dismissed`, or `POST /live-activities/{attributesType}/activity-dismissed`.
    case dismissal(ActivitySubject, instance: Int?, cause: DismissalCause)
    /// `POST /user/follow/match`, or `POST /live/{type}/{id}/follow`; `startsHere` if the app starts the activity itself.
    case follow(ActivitySubject, startsHere: Bool = false)
    /// `DELETE /user/follow/match/{matchId}`, or `DELETE /live/{type}/{id}/follow`.
    case unfollow(ActivitySubject)

    /// Its name in logs and vectors.
    public var name: String {
        switch self {
        case .register: "register"
        case .unregister: "unregister"
        case .unregisterToken: "unregisterToken"
        case .startToken: "startToken"
        case .activityToken: "activityToken"
        case .dismissal: "dismissal"
        case .follow: "follow"
        case .unfollow: "unfollow"
        }
    }

    /// Operations with a common ordering key are attempted one at a time, in order.
    var orderingKeys: Set<OrderingKey> {
        switch self {
        case .register, .unregister, .unregisterToken, .startToken: [.device]
        // It unfollows: a later follow must not arrive before it.
        case .dismissal(let subject, _, .user): [.activity(subject), .follow(subject)]
        case .activityToken(let subject, _), .dismissal(let subject, _, _): [.activity(subject)]
        case .follow(let subject, _), .unfollow(let subject): [.follow(subject)]
        }
    }

    /// Whether it concerns the device's registration and its tokens.
    var isOfRegistration: Bool {
        switch self {
        case .register, .unregisterToken, .startToken: true
        default: false
        }
    }

    /// Whether it ends a registration: one that is queued after it must not arrive before it.
    var endsRegistration: Bool {
        switch self {
        case .unregister, .unregisterToken: true
        default: false
        }
    }

    /// Whether it is about the device that signs out, which `unregister` covers. What the user decided concerns their other devices too.
    var isDroppedAtSignOut: Bool {
        switch self {
        case .register, .unregisterToken, .startToken, .activityToken: true
        case .dismissal(_, _, let cause): cause != .user
        case .unregister, .follow, .unfollow: false
        }
    }

    /// The contract's 24 hours are for tokens. What the user decided is retried until the server has it.
    var hasRetryWindow: Bool {
        switch self {
        case .follow, .unfollow, .dismissal: false
        case .register, .unregister, .unregisterToken, .startToken, .activityToken: true
        }
    }

    /// The subject of a follow or unfollow.
    var followedSubject: ActivitySubject? {
        switch self {
        case .follow(let subject, _), .unfollow(let subject): subject
        default: nil
        }
    }

    enum OrderingKey: Hashable { case device, activity(ActivitySubject), follow(ActivitySubject) }

    /// Whether `newer` is the opposite of this one, which would undo it later where it waits for the user or their session.
    func isOutdated(by newer: OperationKind) -> Bool {
        switch (self, newer) {
        case (.dismissal(let old, _, .user), .follow(let new, _)): old == new
        default: endsRegistration && newer == .register
        }
    }

    /// Whether `newer`, queued later for the same user, replaces this one while it waits.
    func isSuperseded(by newer: OperationKind) -> Bool {
        switch (self, newer) {
        case (.register, .register), (.unregister, .unregister), (.unregisterToken, .unregisterToken): true
        case (.startToken(let old), .startToken(let new)): old == new
        case (.activityToken(let old, _), .activityToken(let new, _)): old == new
        default: followedSubject != nil && followedSubject == newer.followedSubject
        }
    }
}
