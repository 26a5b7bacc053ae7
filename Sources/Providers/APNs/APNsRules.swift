import ServiceKit

/// Checks a message for what APNs refuses, before it is sent.
enum APNsRules {
    /// - Returns: its payload as it is sent.
    static func encode(_ message: PushMessage, app: String) throws(PushError) -> EncodedPayload {
        if message.validateOnly {
            throw PushError(field: "validateOnly", code: "BadPath", "APNs cannot check a push without delivering it; FCM can.")
        }
        try checkTopic(message, app: app)
        try PushValidation.checkCollapseId(message)
        try checkPriority(message)
        if let payload = message.payload {
            try check(payload, in: message)
            return payload
        }
        if message.data["aps"] != nil {
            throw PushError(field: "data/aps", code: "PayloadEmpty", "\"aps\" is Apple's own name; put its members into \"apns\".")
        }
        let payload = APNsPayload.json(message)
        guard payload["aps"]?.members != nil else {
            throw PushError(field: "apns/aps", code: "PayloadEmpty", "\"apns.aps\" must be an object.")
        }
        let bytes = payload.bytes()
        try checkSize(bytes.count, of: message.pushType)
        try APNsContentRules.check(payload["aps"]?.members ?? [:], as: message.pushType)
        return EncodedPayload(checked: bytes, pushType: message.pushType)
    }

    /// An encoded payload was checked when it was created; only its push type is compared.
    private static func check(_ payload: EncodedPayload, in message: PushMessage) throws(PushError) {
        guard payload.pushType == message.pushType else {
            throw PushError(
                field: "pushType",
                code: "InvalidPushType",
                "The payload was made for a \(payload.pushType.rawValue) push, \"pushType\" says \(message.pushType.rawValue)."
            )
        }
    }

    private static func checkTopic(_ message: PushMessage, app: String) throws(PushError) {
        try check(topic: message.apnsTopic(of: app), of: message.pushType, field: message.topic == nil ? "app" : "topic")
    }

    static func check(topic: String, of pushType: APNsPushType, field: String) throws(PushError) {
        guard (1...255).contains(topic.utf8.count), topic.utf8.allSatisfy(isTopicByte) else {
            throw PushError(
                field: field,
                code: "BadTopic",
                "\"\(field)\" must be a bundle identifier: letters, digits, dots, hyphens, underscores, 255 at most with the suffix of the "
                    + "push type."
            )
        }
        let suffix = pushType.topicSuffix
        guard topic.hasSuffix(suffix), topic.utf8.count > suffix.utf8.count else {
            throw PushError(field: field, code: "BadTopic", "The topic of a \(pushType.rawValue) push must end in \"\(suffix)\".")
        }
    }

    private static func checkPriority(_ message: PushMessage) throws(PushError) {
        guard message.pushType == .liveactivity, message.priority == .low else { return }
        throw PushError(field: "priority", code: "BadPriority", "A Live Activity push takes priority high or normal.")
    }

    static func checkSize(_ size: Int, of pushType: APNsPushType) throws(PushError) {
        guard size > pushType.payloadLimit else { return }
        throw PushError(
            field: "",
            code: "PayloadTooLarge",
            "The APNs payload has \(size) bytes; one of type \(pushType.rawValue) may have \(pushType.payloadLimit). Shorten body or data."
        )
    }

    private static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}
