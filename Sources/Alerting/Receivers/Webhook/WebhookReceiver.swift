import Foundation
import HTTPClient
import PushContract

/// Posts Alertmanager's webhook body; every receiver made for Alertmanager understands it.
struct WebhookReceiver: AlertReceiver {
    let name: String
    private let url: String
    private let secret: WebhookSecret?
    /// From sending to the end of the answer.
    static let timeout = Duration.seconds(10)

    /// With a `secret` requests are signed as Standard Webhooks defines.
    init(name: String, url: String, secret: WebhookSecret? = nil) {
        self.name = name
        self.url = url
        self.secret = secret
    }

    var supportsGrouping: Bool { true }

    /// A query may contain a token.
    var secrets: [String] {
        let query = url.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init)
        return [secret?.text, query].compactMap { $0 }
    }

    func action(for message: AlertNotification, now: Timestamp) throws -> ReceiverAction {
        try post(WebhookBody(message), id: message.id, now: now)
    }

    func action(for group: NotificationGroup, now: Timestamp) throws -> ReceiverAction? {
        try post(WebhookBody(group), id: group.id, now: now)
    }

    private func post(_ body: WebhookBody, id: String, now: Timestamp) throws -> ReceiverAction {
        let body = try AlertJSON.data(body)
        var headers: HeaderFields = [
            ("Content-Type", "application/json"), ("User-Agent", "Pushwatch"), ("webhook-id", id),
            ("webhook-timestamp", String(now.seconds)),
        ]
        if let signature = secret.map(WebhookSignature.init) {
            headers.append("webhook-signature", signature.header(id: id, timestamp: now.seconds, body: body))
        }
        return .request(OutboundRequest(method: "POST", url: url, headers: headers, body: Array(body), timeout: Self.timeout))
    }
}
