import AlertRules
import Foundation
import HTTPClient
import PushContract

/// Posts as a Slack app: one message for each alert, edited as it goes on, and a thread below it for each thing that happens.
///
/// Slack has no key by which it recognises a repetition: after an answer that was lost a second message is possible, with the same short
/// id.
struct SlackBotReceiver: AlertReceiver {
    static let standardURL = "https://slack.com/api"

    let name: String
    private let token: String
    private let channel: String
    private let url: String
    static let timeout = Duration.seconds(10)

    init(name: String, token: String, channel: String, url: String = SlackBotReceiver.standardURL) {
        self.name = name
        self.token = token
        self.channel = channel
        self.url = url
    }

    var secrets: [String] { [token] }
    var events: Set<AlertNotification.Event> { Set(AlertNotification.Event.allCases) }

    func action(for message: AlertNotification, now: Timestamp) throws -> ReceiverAction {
        let alert = AlertText(message)
        let root = SlackMessage(alert)
        // `channel/ts`, as the answer to the first message named it.
        let post = try request("chat.postMessage", Body(channel: channel, text: root.text, blocks: root.blocks))
        guard let thread = message.thread.flatMap(Thread.init) else { return .request(post) }
        let edit = Body(channel: thread.channel, text: root.text, blocks: root.blocks, ts: thread.ts)
        let line = "\(alert.state): \(SlackMessage.escaped(alert.summary))".cut(toCharacters: 1500)
        // Below an earlier message, `fired` is a step of escalation of an alert that was reopened.
        let isLoud = [.fired, .resolved].contains(message.event) && message.severity.pages
        let reply = Body(channel: thread.channel, text: line, thread_ts: thread.ts, reply_broadcast: isLoud ? true : nil)
        return .edit(try request("chat.update", edit), reply: try request("chat.postMessage", reply), replacement: post)
    }

    func verdict(on response: OutboundResponse, now: Timestamp) -> ResponseVerdict {
        SlackReceiver.verdict(on: response, now: now, isPlainTextFine: false)
    }

    /// Somebody deleted the message, or the workspace allows no edits of it.
    func editFault(in response: OutboundResponse) -> EditFault? {
        switch SlackReceiver.fault(in: response) {
        case "message_not_found": .missing
        case "cant_update_message", "edit_window_closed": .refused
        default: nil
        }
    }

    func thread(in response: OutboundResponse) -> String? {
        guard let answer = try? JSONDecoder().decode(Posted.self, from: Data(response.body)), answer.message?.thread_ts == nil else {
            return nil
        }
        return "\(answer.channel)/\(answer.ts)"
    }

    private func request(_ method: String, _ body: Body) throws -> OutboundRequest {
        let headers: HeaderFields = [
            ("Content-Type", "application/json; charset=utf-8"), ("Authorization", "Bearer \(token)"), ("User-Agent", "Pushwatch"),
        ]
        let data = Array(try AlertJSON.data(body))
        return OutboundRequest(method: "POST", url: "\(url)/\(method)", headers: headers, body: data, timeout: Self.timeout)
    }

    private struct Thread {
        var channel: String
        var ts: String

        init?(_ text: String) {
            let parts = text.split(separator: "/")
            guard parts.count == 2 else { return nil }
            (channel, ts) = (String(parts[0]), String(parts[1]))
        }
    }

    private struct Body: Encodable {
        var channel: String
        var text: String
        var blocks: [SlackMessage.Block]?
        var ts: String?
        var thread_ts: String?
        var reply_broadcast: Bool?
    }

    private struct Posted: Decodable {
        struct Message: Decodable {
            var thread_ts: String?
        }

        var channel: String
        var ts: String
        var message: Message?
    }
}
