import Foundation

/// What an activity is about, as the server names it.
public enum ActivitySubject: Codable, Sendable, Hashable {
    /// A followed match, by its id.
    case match(String)
    /// An activity of the service's own type, by the `activityId` that its start was called with.
    case custom(attributesType: String, activityId: String)

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

    /// In the body of its calls; a match is named by the path.
    var activityId: String? { if case .custom(_, let activityId) = self { activityId } else { nil } }
}
