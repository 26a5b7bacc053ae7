import HTTPClient
import Foundation
package import PushContract

/// Posts Alertmanager's webhook body; every receiver made for Alertmanager understands it.
package struct WebhookReceiver: AlertReceiver {
    package let name: String
    private let url: String
    private let signature: WebhookSignature?
    /// From sending to the end of the answer.
    static let timeout = Duration.seconds(10)

    /// With a `secret` requests are signed after Standard Webhooks. `whsec_` + base64, or any text.
    package init(name: String, url: String, secret: String? = nil) {
        self.name = name
        self.url = url
        signature = secret.map(WebhookSignature.init(secret:))
    }

    package func action(for message: AlertNotification, now: Timestamp) throws -> ReceiverAction {
        try post(WebhookBody(message), id: message.id, now: now)
    }

    package func action(for group: NotificationGroup, now: Timestamp) throws -> ReceiverAction? {
        try post(WebhookBody(group), id: group.id, now: now)
    }

    private func post(_ body: WebhookBody, id: String, now: Timestamp) throws -> ReceiverAction {
        let body = try AlertJSON.data(body)
        var headers = [
            ("Content-Type", "application/json"), ("User-Agent", "Pushwatch"), ("webhook-id", id),
            ("webhook-timestamp", String(now.seconds)),
        ]
        if let signature {
            headers.append(("webhook-signature", signature.header(id: id, timestamp: now.seconds, body: body)))
        }
        return .request(OutboundRequest(method: "POST", url: url, headers: headers, body: Array(body), timeout: Self.timeout))
    }
}
