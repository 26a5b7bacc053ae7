import ServiceKit

/// The checks on the body. Apple says APNs "may refuse, delay or drop" a payload that contradicts its push type; here it is
/// refused as `InvalidPushType`, so that a mistake shows in the first test and not on a customer's phone.
enum APNsPayloadChecks {
    static func check(_ body: [UInt8], as pushType: APNsPushType) throws(APNsRefusal) {
        guard !body.isEmpty else { throw APNsRefusal(.payloadEmpty, "the body is empty") }
        guard body.count <= pushType.payloadLimit else {
            throw APNsRefusal(.payloadTooLarge, "the body has \(body.count) bytes; at most \(pushType.payloadLimit) are allowed")
        }
        // Apple documents no reason for text that is not JSON; to a device such a payload is an empty one.
        guard let payload = JSONValue(bytes: body), payload.members != nil else {
            throw APNsRefusal(.payloadEmpty, "the body is not a JSON object")
        }
        switch pushType {
        case .liveactivity: try checkLiveActivity(payload["aps"])
        case .background: try checkBackground(payload["aps"])
        default: break
        }
    }

    private static func checkBackground(_ aps: JSONValue?) throws(APNsRefusal) {
        guard aps?["content-available"]?.integer == 1 else {
            throw APNsRefusal(.invalidPushType, "a background push needs aps.content-available: 1")
        }
        for key in ["alert", "badge", "sound"] where aps?[key] != nil {
            throw APNsRefusal(.invalidPushType, "a background push shows nothing: remove aps.\(key)")
        }
    }

    private static func checkLiveActivity(_ aps: JSONValue?) throws(APNsRefusal) {
        guard aps?["timestamp"]?.number != nil else {
            throw APNsRefusal(.invalidPushType, "a Live Activity push needs aps.timestamp in seconds")
        }
        switch aps?["event"]?.string {
        case "start":
            try require(["attributes-type", "attributes", "content-state", "alert"], in: aps, of: "start")
        case "update":
            try require(["content-state"], in: aps, of: "update")
        case "end":
            break
        default:
            throw APNsRefusal(.invalidPushType, "a Live Activity push needs aps.event: start, update or end")
        }
    }

    private static func require(_ keys: [String], in aps: JSONValue?, of event: String) throws(APNsRefusal) {
        for key in keys where aps?[key] == nil || aps?[key] == .null {
            throw APNsRefusal(.invalidPushType, "a Live Activity \(event) needs aps.\(key)")
        }
    }
}
