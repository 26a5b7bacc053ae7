import AlertRules
import Crypto
import Foundation
import PushContract
import ServiceKit

/// An event of PagerDuty's Events API v2.
struct PagerDutyEvent: Encodable {
    enum Action: String, Encodable {
        case trigger, acknowledge, resolve
    }

    struct Payload: Encodable {
        /// At most 1,024 characters.
        var summary: String
        var source: String
        /// critical, error, warning or info.
        var severity: String
        var timestamp: String
        var component: String?
        var group: String?
        var `class`: String
        var custom_details: PagerDutyDetails?
    }

    struct Link: Encodable {
        var href: String
        var text: String
    }

    /// The whole event, in bytes.
    static let maxBytes = 512 * 1024
    static let maxSummaryLength = 1024
    static let maxKeyLength = 255

    let routing_key: String
    let event_action: Action
    let dedup_key: String
    /// On resolve too: rules of PagerDuty may use it.
    var payload: Payload
    let links: [Link]
    let client = "Pushwatch"
    let client_url: String

    init(_ message: AlertNotification, action: Action, routingKey: String) {
        let text = AlertText(message)
        routing_key = routingKey
        event_action = action
        dedup_key = Self.dedupKey(message)
        payload = Payload(
            summary: "\(text.summary) (\(message.rule) #\(text.shortId))".cut(toCharacters: Self.maxSummaryLength),
            source: Self.host(message.externalURL),
            severity: Self.severity(message.severity),
            timestamp: (action == .resolve ? message.endsAt ?? message.firedAt : message.firedAt).rfc3339,
            component: message.group["provider"] ?? message.labels["provider"],
            group: message.group.isEmpty ? nil : Self.group(message).visible,
            class: message.rule,
            custom_details: PagerDutyDetails(text)
        )
        links = text.links.map { Link(href: $0.url, text: $0.text) }
        client_url = message.pageURL
    }

    /// The event as JSON, within PagerDuty's size: details are left out where it is too large, never the summary.
    func data() throws -> Data {
        var event = self
        for shrink in PagerDutyDetails.shrinking {
            let data = try AlertJSON.data(event)
            if data.count <= Self.maxBytes { return data }
            event.payload.custom_details.map { event.payload.custom_details = shrink($0) }
        }
        event.payload.custom_details = nil
        return try AlertJSON.data(event)
    }

    /// `<install>:<rule>:<group>:<alert>`: one incident for each alert, whatever is repeated. Long names are replaced by their hash.
    static func dedupKey(_ message: AlertNotification) -> String {
        let alert = message.alertId.uuidString.lowercased()
        let whole = "\(host(message.externalURL)):\(message.rule):\(group(message)):\(alert)"
        guard whole.count > maxKeyLength else { return whole }
        let digest = SHA256.hash(data: Data(whole.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "pushwatch:\(digest):\(alert)"
    }

    static func severity(_ severity: Severity) -> String {
        switch severity {
        case .critical: "critical"
        case .page: "error"
        case .ticket: "warning"
        case .info: "info"
        }
    }

    private static func group(_ message: AlertNotification) -> String {
        message.group.isEmpty ? "all" : message.group.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
    }

    static func host(_ url: String) -> String { URL(string: url)?.host() ?? "pushwatch" }
}
