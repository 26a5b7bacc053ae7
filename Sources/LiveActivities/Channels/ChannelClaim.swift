import Providers
package import PushContract

/// Something that is due for a channel, taken by this process for a while.
package enum ChannelClaim: Sendable, Hashable {
    case make(ChannelKey, attempts: Int)
    case end(ChannelKey, id: String, lastTimestamp: Int64, attempts: Int, told: Int, retiredAt: Timestamp)
    case delete(ChannelKey, id: String, attempts: Int)
    /// One that no match is known for.
    case deleteStray(LivePlace, id: String)
    case list(LivePlace)

    var place: LivePlace {
        switch self {
        case .make(let key, _), .end(let key, _, _, _, _, _), .delete(let key, _, _): key.place
        case .deleteStray(let place, _), .list(let place): place
        }
    }

    /// For the metrics.
    var operation: String {
        switch self {
        case .make: "create"
        case .end: "end"
        case .delete, .deleteStray: "delete"
        case .list: "list"
        }
    }
}
