import PushContract

/// What an app has to tell the server.
public enum OperationKind: Codable, Sendable, Hashable {
    /// `POST /devices`.
    case register
    /// `DELETE /devices/{deviceId}`.
    case unregister
    /// `POST /devices/push-to-start-token`: for activities of this type, or of every type that has no token of its own.
    case startToken(attributesType: String? = nil)
    /// `POST /matches/{matchId}/activity-token`.
    case activityToken(matchId: String, instance: Int?)
    /// `POST /matches/{matchId}/activity-dismissed`.
    case dismissal(matchId: String, instance: Int?, cause: DismissalCause)
    /// `POST /user/follow/match`.
    case follow(matchId: String)
    /// `DELETE /user/follow/match/{matchId}`.
    case unfollow(matchId: String)

    /// Operations of one orderingKey are tried one at a time and in order.
    var orderingKey: OrderingKey {
        switch self {
        case .register, .unregister, .startToken: .device
        case .activityToken(let matchId, _), .dismissal(let matchId, _, _): .activity(matchId)
        case .follow(let matchId), .unfollow(let matchId): .follow(matchId)
        }
    }

    /// It belongs to a registered device, as the registration itself does.
    var isOfRegistration: Bool {
        switch self {
        case .register, .startToken: true
        default: false
        }
    }

    enum OrderingKey: Hashable { case device, activity(String), follow(String) }

    /// Whether `newer`, queued later for the same user, makes this one pointless while it waits.
    func isSuperseded(by newer: OperationKind) -> Bool {
        switch (self, newer) {
        case (.register, .register): true
        case (.startToken(let old), .startToken(let new)): old == new
        case (.activityToken(let old, _), .activityToken(let new, _)): old == new
        case (.follow(let old), .unfollow(let new)), (.unfollow(let old), .follow(let new)): old == new
        case (.follow(let old), .follow(let new)), (.unfollow(let old), .unfollow(let new)): old == new
        default: false
        }
    }
}
