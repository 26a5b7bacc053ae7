import ServiceKit

/// The checks on a message to a channel ("Sending broadcast push notification requests to APNs"). Pure.
enum BroadcastChecks {
    static let payloadLimit = 5120

    static func check(_ request: SimulatedRequest, to channel: SimulatedChannel) throws(APNsRefusal) {
        switch request.header("apns-push-type") {
        case "liveactivity": break
        case nil: throw APNsRefusal(.missingPushType, "apns-push-type is missing")
        default: throw APNsRefusal(.invalidPushType, "the apns-push-type of a broadcast must be liveactivity")
        }
        guard ["5", "10"].contains(request.header("apns-priority")) else {
            throw APNsRefusal(.badPriority, "a broadcast needs apns-priority 5 or 10")
        }
        guard let expiration = request.header("apns-expiration").flatMap({ Int64($0) }), expiration >= 0 else {
            throw APNsRefusal(.badExpirationDate, "a broadcast needs apns-expiration in whole seconds since 1970")
        }
        if channel.storagePolicy == 0, expiration != 0 {
            throw APNsRefusal(.badExpirationDate, "the channel stores nothing, so apns-expiration must be 0")
        }
        try checkBody(request.body)
    }

    private static func checkBody(_ body: [UInt8]) throws(APNsRefusal) {
        guard !body.isEmpty else { throw APNsRefusal(.payloadEmpty, "the body is empty") }
        guard body.count <= payloadLimit else {
            throw APNsRefusal(.payloadTooLarge, "the body has \(body.count) bytes; at most \(payloadLimit) are allowed")
        }
        let aps = JSONValue(bytes: body)?["aps"]
        guard ["update", "end"].contains(aps?["event"]?.string), aps?["timestamp"]?.number != nil else {
            throw APNsRefusal(.badRequestPayload, "a broadcast carries the update or the end of a Live Activity, with aps.timestamp")
        }
    }
}
