/// The values of `apns-push-type` that token authentication can send, with their requirements (Apple, "Sending notification requests to
/// APNs").
package enum APNsPushType: String, Sendable, Hashable, CaseIterable {
    case alert, background, liveactivity, voip, complication, fileprovider, location, pushtotalk, widgets, controls

    /// The suffix after the bundle id in `apns-topic`.
    package var topicSuffix: String {
        switch self {
        case .alert, .background: ""
        case .liveactivity: ".push-type.liveactivity"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The apps that a topic may be of: itself, or what is before the suffix of a push type.
    package static func apps(ofTopic topic: String) -> [String] {
        allCases.compactMap { type in topic.hasSuffix(type.topicSuffix) ? String(topic.dropLast(type.topicSuffix.count)) : nil }
    }

    /// The maximum size of the payload in bytes.
    package var payloadLimit: Int { self == .voip ? 5120 : 4096 }

    /// `apns-priority`. A background push is always sent with 5, the only value allowed.
    func priority(_ wanted: PushPriority) -> Int {
        switch (self, wanted) {
        case (.background, _), (_, .normal): 5
        case (_, .high): 10
        case (_, .low): 1
        }
    }
}
