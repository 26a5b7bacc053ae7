import HTTPClient
import PushContract

/// One `POST /3/device/<token>`, but for its provider token. Pure: the same message and target give the same request.
enum APNsRequest {
    static let devicePath = "/3/device/"

    static func headers(_ message: PushMessage, app: String, attemptId: String) -> HeaderFields {
        var headers = HeaderFields()
        headers.append("apns-topic", message.apnsTopic(of: app))
        headers.append("apns-push-type", message.pushType.rawValue)
        headers.append("apns-priority", String(message.pushType.priority(message.priority)))
        headers.append("apns-id", APNsMessageId.derive(from: attemptId), isUnique: true)
        if let expiresAt = message.expiresAt { headers.append("apns-expiration", String(max(0, expiresAt.seconds)), isUnique: true) }
        if let collapseId = message.collapseId { headers.append("apns-collapse-id", collapseId, isUnique: true) }
        return headers
    }

    /// Nil if the token is not hexadecimal, since it becomes part of the path.
    static func path(_ token: String) -> String? {
        let digits = token.utf8
        guard !digits.isEmpty, digits.allSatisfy(isHexDigit) else { return nil }
        return devicePath + token
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
