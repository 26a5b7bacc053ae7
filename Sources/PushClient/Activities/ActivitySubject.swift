import Foundation
import PushContract

/// What an activity is about, as the server names it.
public enum ActivitySubject: Codable, Sendable, Hashable {
    /// A followed match, by its id.
    case match(String)
    /// A subject of the service's own type, by its id: the `activityId` of its attributes.
    case custom(attributesType: String, activityId: String)

    /// A subject by its type, which for a match is the built-in one, and its id.
    public init(type: String, id: String) {
        self = type == String(describing: MatchActivityAttributes.self) ? .match(id) : .custom(attributesType: type, activityId: id)
    }

    /// A subject by its name: a matchId, or `attributesType/activityId`.
    public init(name: String) {
        let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
        self = parts.count == 2 ? .custom(attributesType: parts[0], activityId: parts[1]) : .match(name)
    }

    /// The name that the server answers with: a matchId, or `attributesType/activityId`.
    public var name: String {
        switch self {
        case .match(let matchId): matchId
        case .custom(let attributesType, let activityId): attributesType + "/" + activityId
        }
    }

    /// The match; nil for other types.
    public var matchId: String? { if case .match(let matchId) = self { matchId } else { nil } }

    /// The path below which its calls are; `activity-token` or `activity-dismissed` follows.
    var path: String {
        switch self {
        case .match(let matchId): "/matches/" + OperationRequest.escaped(matchId)
        case .custom(let attributesType, _): "/live-activities/" + OperationRequest.escaped(attributesType)
        }
    }

    /// Where it is followed with `POST`; a match is named by the body.
    var followPath: String {
        switch self {
        case .match: "/user/follow/match"
        case .custom: unfollowPath
        }
    }

    /// Where it is unfollowed with `DELETE`.
    var unfollowPath: String {
        switch self {
        case .match(let matchId): "/user/follow/match/" + OperationRequest.escaped(matchId)
        case .custom(let attributesType, let activityId):
            "/live/\(OperationRequest.escaped(attributesType))/\(OperationRequest.escaped(activityId))/follow"
        }
    }

    /// In the body of its calls; a match is named by the path.
    var activityId: String? { if case .custom(_, let activityId) = self { activityId } else { nil } }
}
