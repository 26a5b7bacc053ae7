import Foundation
package import HTTPClient
package import PushContract

/// Opens and resolves incidents through PagerDuty's Events API v2.
///
/// PagerDuty repeats by itself, so an alert is triggered once. An alert that ended before its notification was sent opens no incident.
package struct PagerDutyReceiver: AlertReceiver {
    package static let standardURL = "https://events.pagerduty.com/v2/enqueue"

    package let name: String
    private let routingKey: String
    private let url: String
    static let timeout = Duration.seconds(10)

    package init(name: String, routingKey: String, url: String = PagerDutyReceiver.standardURL) {
        self.name = name
        self.routingKey = routingKey
        self.url = url
    }

    package var secrets: [String] { [routingKey] }
    package var repeatsItself: Bool { true }
    package var supersededPolicy: SupersededPolicy { .sendNothing }
    package var events: Set<AlertNotification.Event> { [.fired, .acknowledged, .resolved] }

    package func action(for message: AlertNotification, now: Timestamp) throws -> ReceiverAction {
        let action: PagerDutyEvent.Action = message.kind == .resolved ? .resolve : message.event == .acknowledged ? .acknowledge : .trigger
        let body = try PagerDutyEvent(message, action: action, routingKey: routingKey).data()
        let headers = [("Content-Type", "application/json"), ("User-Agent", "Pushwatch")]
        return .request(OutboundRequest(method: "POST", url: url, headers: headers, body: Array(body), timeout: Self.timeout))
    }

    /// Accepted is 202 and nothing else: another 2xx does not come from PagerDuty.
    package func verdict(on response: OutboundResponse, now: Timestamp) -> ResponseVerdict {
        let byStatus = ResponseVerdict(status: response.status, retryAfter: response.header("retry-after"), now: now)
        return byStatus == .delivered && response.status != 202 ? .retry(after: nil) : byStatus
    }
}
