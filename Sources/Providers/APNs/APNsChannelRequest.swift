import HTTPClient
import PushContract
import ServiceKit

/// Requests about broadcast channels (Apple, "Sending channel management requests to APNs", "Sending broadcast push notification requests
/// to APNs"). Pure.
enum APNsChannelRequest {
    static func create(_ storage: BroadcastChannel.Storage, app: String, base: String) -> OutboundRequest {
        let body = #"{"message-storage-policy":\#(storage.rawValue),"push-type":"LiveActivity"}"#
        return OutboundRequest(url: channels(app, base), headers: [json], body: Array(body.utf8))
    }

    static func delete(_ id: String, app: String, base: String) -> OutboundRequest {
        OutboundRequest(method: "DELETE", url: channels(app, base), headers: [channel(id)])
    }

    static func list(app: String, base: String) -> OutboundRequest {
        OutboundRequest(method: "GET", url: "\(base)/1/apps/\(app)/all-channels")
    }

    static func send(_ push: LiveActivityPush, _ body: [UInt8], to target: BroadcastChannel, app: String, base: String) -> OutboundRequest {
        let headers: HeaderFields = [
            channel(target.id), ("apns-push-type", APNsPushType.liveactivity.rawValue),
            ("apns-priority", String(APNsPushType.liveactivity.priority(push.priority))),
            ("apns-expiration", String(APNsChannelRules.expiration(push, channel: target))),
        ]
        return OutboundRequest(url: "\(base)/4/broadcasts/apps/\(app)", headers: headers, body: body)
    }

    /// What cannot be an id is left out: no request can name it.
    static func ids(in response: OutboundResponse) -> [String]? {
        (try? JSONParser.read(response.body))?["channels"]?.elements.map { $0.compactMap(\.string).filter(APNsChannelRules.isId) }
    }

    private static let json = ("content-type", "application/json")
    private static func channel(_ id: String) -> (String, String) { ("apns-channel-id", id) }
    private static func channels(_ app: String, _ base: String) -> String { "\(base)/1/apps/\(app)/channels" }
}
