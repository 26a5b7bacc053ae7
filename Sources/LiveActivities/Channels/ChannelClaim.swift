package import Delivery
import Providers
package import PushContract

/// Something that is due for a channel, taken by this process for a while.
package enum ChannelClaim: Sendable, Hashable {
    case make(ChannelKey, attempts: Int)
    case end(ChannelKey, id: String, lastTimestamp: Int64, attempts: Int, sent: Int, retiredAt: Timestamp)
    case delete(ChannelKey, id: String, attempts: Int)
    /// One that no match is known for.
    case deleteOrphan(AppEnvironment, id: String)
    case list(AppEnvironment)

    var appEnvironment: AppEnvironment {
        switch self {
        case .make(let key, _), .end(let key, _, _, _, _, _), .delete(let key, _, _): key.appEnvironment
        case .deleteOrphan(let appEnvironment, _), .list(let appEnvironment): appEnvironment
        }
    }

    /// For the metrics.
    var operation: String {
        switch self {
        case .make: "create"
        case .end: "end"
        case .delete, .deleteOrphan: "delete"
        case .list: "list"
        }
    }
}
