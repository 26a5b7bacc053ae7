import Foundation
import HTTPClient
import PushContract

/// Publishes to a topic of an ntfy server.
struct NtfyReceiver: AlertReceiver {
    static let standardServer = "https://ntfy.sh"

    let name: String
    private let server: String
    private let topic: String
    private let token: String?
    static let timeout = Duration.seconds(10)

    init(name: String, topic: String, server: String = NtfyReceiver.standardServer, token: String? = nil) {
        self.name = name
        self.topic = topic
        self.server = server
        self.token = token
    }

    var supportsGrouping: Bool { true }

    /// Anyone who knows a topic of ntfy.sh can read and write it.
    var secrets: [String] { (token.map { [$0] } ?? []) + [topic] }

    func action(for message: AlertNotification, now: Timestamp) throws -> ReceiverAction {
        try post(NtfyMessage(AlertText(message), topic: topic))
    }

    func action(for group: NotificationGroup, now: Timestamp) throws -> ReceiverAction? {
        try post(NtfyMessage(GroupText(group), topic: topic))
    }

    private func post(_ message: NtfyMessage) throws -> ReceiverAction {
        let body = try message.data()
        var headers: HeaderFields = [("Content-Type", "application/json"), ("User-Agent", "Pushwatch")]
        if let token { headers.append("Authorization", "Bearer \(token)") }
        return .request(OutboundRequest(method: "POST", url: server, headers: headers, body: body, timeout: Self.timeout))
    }
}
