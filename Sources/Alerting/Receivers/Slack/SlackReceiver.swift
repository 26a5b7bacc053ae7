import Foundation
import HTTPClient
import PushContract

/// Posts to a Slack incoming webhook: one message for each transition, since webhooks can neither edit nor thread.
struct SlackReceiver: AlertReceiver {
    let name: String
    private let url: String
    static let timeout = Duration.seconds(10)

    init(name: String, url: String) {
        self.name = name
        self.url = url
    }

    var supportsGrouping: Bool { true }

    /// The whole URL, or what follows its host, allows posting.
    var secrets: [String] {
        let path = url.split(separator: "/", maxSplits: 2).dropFirst(2).first.map(String.init)
        return [url] + (path.map { [$0] } ?? [])
    }

    func action(for message: AlertNotification, now: Timestamp) throws -> ReceiverAction {
        try post(SlackMessage(AlertText(message)))
    }

    func action(for group: NotificationGroup, now: Timestamp) throws -> ReceiverAction? {
        try post(SlackMessage(GroupText(group)))
    }

    private func post(_ message: SlackMessage) throws -> ReceiverAction {
        let body = try AlertJSON.data(message)
        let headers: HeaderFields = [("Content-Type", "application/json"), ("User-Agent", "Pushwatch")]
        return .request(OutboundRequest(method: "POST", url: url, headers: headers, body: Array(body), timeout: Self.timeout))
    }

    /// Success is the text `ok`. A 200 with anything else may be Slack's `{"ok": false}`, or a proxy's page; only what Slack itself calls
    /// wrong is given up.
    func verdict(on response: OutboundResponse, now: Timestamp) -> ResponseVerdict {
        Self.verdict(on: response, now: now, isPlainTextFine: true)
    }

    static func verdict(on response: OutboundResponse, now: Timestamp, isPlainTextFine: Bool) -> ResponseVerdict {
        let byStatus = ResponseVerdict(status: response.status, retryAfter: response.header("retry-after"), now: now)
        guard byStatus == .delivered else { return byStatus }
        let text = String(decoding: response.body.prefix(4096), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if isPlainTextFine, text == "ok" { return .delivered }
        guard let answer = try? AlertJSON.value(Answer.self, from: text) else { return .retry(after: nil) }
        if answer.ok { return .delivered }
        return Self.passing.contains(answer.error ?? "") ? .retry(after: nil) : .deadLettered
    }

    /// The error that Slack names in a response.
    static func fault(in response: OutboundResponse) -> String? {
        (try? JSONDecoder().decode(Answer.self, from: Data(response.body)))?.error
    }

    private struct Answer: Decodable {
        var ok: Bool
        var error: String?
    }

    /// Errors that go away by themselves.
    private static let passing: Set = [
        "ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout",
    ]
}
