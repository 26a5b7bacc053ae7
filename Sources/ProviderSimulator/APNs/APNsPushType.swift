/// The push types with what each requires of topic, priority and size ("Sending notification requests to APNs").
enum APNsPushType: String, Sendable, CaseIterable {
    case alert, background, voip, complication, fileprovider, mdm, liveactivity, location, pushtotalk, widgets, controls

    /// What follows the bundle identifier in `apns-topic`; empty: the bundle identifier alone.
    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The values of `apns-priority` it may have.
    var priorities: Set<Int> {
        switch self {
        case .background: [5]
        case .liveactivity: [5, 10]
        default: [1, 5, 10]
        }
    }

    /// Bytes of body at most.
    var payloadLimit: Int {
        self == .voip ? 5120 : 4096
    }

    /// The type a topic's suffix names, for requests without `apns-push-type`; `alert` when it has none.
    static func named(bySuffixOf topic: String) -> APNsPushType {
        allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) } ?? .alert
    }
}
