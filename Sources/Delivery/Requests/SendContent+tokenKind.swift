import Providers
import ServiceKit

extension SendContent {
    /// The kind of token it belongs to: with push type liveactivity, a push-to-start token for a start and an update token otherwise.
    var tokenKind: TokenKind {
        guard pushType == APNsPushType.liveactivity.rawValue else { return .push }
        guard case .object(let aps)? = apns["aps"], aps["event"] == .string("start") else { return .update }
        return .pushToStart
    }
}
