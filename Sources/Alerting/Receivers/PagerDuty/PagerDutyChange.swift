import AlertRules
import Foundation
import PushContract

/// A change event of PagerDuty's Events API v2: shown next to incidents, it opens none.
struct PagerDutyChange: Encodable {
    struct Payload: Encodable {
        /// At most 1,024 characters.
        var summary: String
        var source: String
        var timestamp: String
    }

    let routing_key: String
    let payload: Payload
    let links: [PagerDutyEvent.Link]

    init(_ message: AlertNotification, routingKey: String) {
        let text = AlertText(message)
        routing_key = routingKey
        payload = Payload(
            summary: "\(text.state): \(text.summary) (\(message.rule) #\(text.shortId))".cut(toCharacters: PagerDutyEvent.maxSummaryLength),
            source: PagerDutyEvent.host(message.externalURL),
            timestamp: (message.evidence.observed.last + 1).timestamp.rfc3339
        )
        links = text.links.map { PagerDutyEvent.Link(href: $0.url, text: $0.text) }
    }

    func data() throws -> Data { try AlertJSON.data(self) }
}
