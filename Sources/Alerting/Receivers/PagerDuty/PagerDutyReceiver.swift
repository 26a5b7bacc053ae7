import Foundation
import HTTPClient
import PushContract

/// Opens and resolves incidents through PagerDuty's Events API v2.
///
/// PagerDuty repeats by itself, so an alert is triggered once. A trigger after a resolve would open a new incident, so an alert that fires
/// again is a change event, which pages nobody, until a step of escalation triggers it. An alert that ended before its notification was
/// sent opens no incident.
struct PagerDutyReceiver: AlertReceiver {
    static let standardURL = "https://events.pagerduty.com/v2/enqueue"

    let name: String
    private let routingKey: String
    private let url: String
    static let timeout = Duration.seconds(10)

    init(name: String, routingKey: String, url: String = PagerDutyReceiver.standardURL) {
        self.name = name
        self.routingKey = routingKey
        self.url = url
    }

    var secrets: [String] { [routingKey] }
    var repeatsItself: Bool { true }
    var supersededPolicy: SupersededPolicy { .sendNothing }
    var events: Set<AlertNotification.Event> { [.fired, .acknowledged, .reopened, .resolved] }

    func action(for message: AlertNotification, now: Timestamp) throws -> ReceiverAction {
        if message.event == .reopened {
            return .request(try request(PagerDutyChange(message, routingKey: routingKey).data(), to: changeURL))
        }
        let action: PagerDutyEvent.Action = message.kind == .resolved ? .resolve : message.event == .acknowledged ? .acknowledge : .trigger
        return .request(try request(PagerDutyEvent(message, action: action, routingKey: routingKey).data(), to: url))
    }

    /// `/v2/change/enqueue` next to `/v2/enqueue`.
    private var changeURL: String {
        let suffix = "/enqueue"
        return url.hasSuffix(suffix) ? url.dropLast(suffix.count) + "/change" + suffix : url
    }

    private func request(_ body: Data, to url: String) throws -> OutboundRequest {
        let headers: HeaderFields = [("Content-Type", "application/json"), ("User-Agent", "Pushwatch")]
        return OutboundRequest(method: "POST", url: url, headers: headers, body: Array(body), timeout: Self.timeout)
    }

    /// Accepted is 202 and nothing else: another 2xx does not come from PagerDuty.
    func verdict(on response: OutboundResponse, now: Timestamp) -> ResponseVerdict {
        let byStatus = ResponseVerdict(status: response.status, retryAfter: response.header("retry-after"), now: now)
        return byStatus == .delivered && response.status != 202 ? .retry(after: nil) : byStatus
    }
}
