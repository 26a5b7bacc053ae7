import PushContract

/// What an app reports to the server.
public enum OperationKind: Codable, Sendable, Hashable {
    /// `POST /devices`.
    case register
    /// `DELETE /devices/{deviceId}`.
    case unregister
    /// `POST /devices/push-to-start-token`: for activities of this type; nil: of every type without its own token.
    case startToken(attributesType: String? = nil)
    /// `POST /matches/{matchId}/activity-token`.
    case activityToken(matchId: String, instance: Int?)
    /// `POST /matches/{matchId}/activity-dismissed`.
    case dismissal(matchId: String, instance: Int?, cause: DismissalCause)
    /// `POST /user/follow/match`.
    case follow(matchId: String)
    /// `DELETE /user/follow/match/{matchId}`.
    case unfollow(matchId: String)

    /// Operations with the same ordering key are attempted one at a time, in order.
    var orderingKey: OrderingKey {
        switch self {
        case .register, .unregister, .startToken: .device
        case .activityToken(let matchId, _), .dismissal(let matchId, _, _): .activity(matchId)
        case .follow(let matchId), .unfollow(let matchId): .follow(matchId)
        }
    }

    /// Whether the operation needs a registered device.
    var isOfRegistration: Bool {
        switch self {
        case .register, .startToken: true
        default: false
        }
    }

    enum OrderingKey: Hashable { case device, activity(String), follow(String) }

    /// Whether `newer`, queued later for the same user, replaces this one while it waits.
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
