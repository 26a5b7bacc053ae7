import Foundation
import PushContract

/// An attempt as a sender reports it. Everything but the time follows from the id, so that a stored row can be checked against it.
struct SampleAttempt: Sendable {
    var id: String
    var at: Timestamp
    var provider = "fcm"
    var reason: String?

    /// The hash that a token with this name would have.
    static func hash(of id: String) -> String {
        var value: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in id.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(value, radix: 16)
        return "sha256:" + String(repeating: String(repeating: "0", count: 16 - digits.count) + digits, count: 4)
    }

    var json: [String: any Sendable] {
        var json: [String: any Sendable] = [
            "attemptId": id, "uid": "user-" + id, "platform": provider == "apns" ? "ios" : "android", "provider": provider,
            "tokenHash": Self.hash(of: id), "eventType": "send", "status": reason == nil ? "sent" : "failed", "attemptedAt": at.rfc3339,
            "requestId": "request-" + id, "app": "com.example.scores", "latencyMs": id.utf8.count,
        ]
        json["reasonCode"] = reason
        return json
    }

    var text: String {
        guard let data = try? JSONSerialization.data(withJSONObject: json) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}
