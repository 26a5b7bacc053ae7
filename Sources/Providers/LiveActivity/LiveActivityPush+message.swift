import PushContract
import ServiceKit

extension LiveActivityPush {
    /// A start delivered later may start an activity that is over.
    package static let startLifetime = Duration.seconds(300)

    /// The push as a message for both providers, with its payload built and checked. Build it once per state and send it to all followers.
    ///
    /// APNs: to the push-to-start token for a start, to the activity's update token otherwise. FCM: to the app's registration token, with
    /// the activity's token as the target's `liveActivityToken`.
    package func message() throws(PushError) -> PushMessage {
        let payload = try payload(limit: APNsPushType.liveactivity.payloadLimit)
        var message = PushMessage(
            pushType: .liveactivity,
            priority: priority,
            collapseId: collapseId,
            expiresAt: expiresAt ?? standardExpiry
        )
        message.payload = payload
        try PushValidation.checkCollapseId(message)
        return message
    }

    /// The checked payload.
    /// - Parameter limit: The maximum size in bytes.
    func payload(limit: Int) throws(PushError) -> EncodedPayload {
        try LiveActivityRules.check(self)
        let bytes = encoded
        guard bytes.count <= limit else {
            throw PushError(
                field: "contentState",
                code: "PayloadTooLarge",
                "The Live Activity payload has \(bytes.count) bytes; it may have \(limit). Shorten attributes or content state."
            )
        }
        return EncodedPayload(checked: bytes, pushType: .liveactivity)
    }

    /// `{"aps":{…}}`, members in a fixed order.
    private var encoded: [UInt8] {
        var text = Array(#"{"aps":{"timestamp":\#(timestamp.seconds),"event":"\#(event.name)""#.utf8)
        func add(_ name: String, _ value: some Sequence<UInt8>) {
            text += Array(",\"\(name)\":".utf8)
            text += value
        }
        if case .start(let start) = event {
            add("attributes-type", JSONValue.string(start.attributesType).text.utf8)
            add("attributes", start.attributes)
            switch start.input {
            case .token: add("input-push-token", "1".utf8)
            case .channel(let id): add("input-push-channel", JSONValue.string(id).text.utf8)
            case nil: break
            }
        }
        if let contentState { add("content-state", contentState) }
        if case .end(let dismissal?) = event { add("dismissal-date", String(dismissal.seconds).utf8) }
        if let staleDate { add("stale-date", String(staleDate.seconds).utf8) }
        if let relevanceScore { add("relevance-score", JSONValue.number(relevanceScore).text.utf8) }
        if let alert { add("alert", alert.json.text.utf8) }
        if let interruptionLevel { add("interruption-level", JSONValue.string(interruptionLevel).text.utf8) }
        text += Array("}}".utf8)
        return text
    }

    private var standardExpiry: Timestamp? {
        if case .start = event { timestamp + LiveActivityPush.startLifetime } else { nil }
    }
}
