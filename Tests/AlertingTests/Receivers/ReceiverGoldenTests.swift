import Foundation
import HTTPClient
import Testing

@testable import Alerting

@Suite("What each receiver is sent, byte for byte")
struct ReceiverGoldenTests {
    @Test("the Slack body equals the golden file", arguments: Messages.all)
    func slack(_ message: AlertNotification) throws {
        let receiver = SlackReceiver(name: "chat", url: "https://hooks.slack.com/services/T/B/x")
        try Golden.expect(json: try Messages.request(receiver, message).body, "slack-\(message.kind).json")
    }

    @Test("the PagerDuty event equals the golden file", arguments: Messages.all)
    func pagerDuty(_ message: AlertNotification) throws {
        let receiver = PagerDutyReceiver(name: "pager", routingKey: "0123456789abcdef0123456789abcdef")
        let request = try Messages.request(receiver, message)
        #expect(request.url == "https://events.pagerduty.com/v2/enqueue")
        try Golden.expect(json: request.body, "pagerduty-\(message.kind).json")
    }

    @Test("the ntfy message equals the golden file", arguments: Messages.all)
    func ntfy(_ message: AlertNotification) throws {
        let receiver = NtfyReceiver(name: "phone", topic: "on-call", token: "tk_1")
        let request = try Messages.request(receiver, message)
        #expect(request.url == "https://ntfy.sh")
        #expect(request.headers.contains { $0.name == "authorization" && $0.value == "Bearer tk_1" })
        try Golden.expect(json: request.body, "ntfy-\(message.kind).json")
    }

    @Test("the Alertmanager body equals the golden file, the same for every member", arguments: Messages.all)
    func alertmanager(_ message: AlertNotification) throws {
        let cluster = AlertmanagerCluster(members: ["http://am-0:9093/", "http://am-1:9093"], user: "u", password: "p")
        guard case .requests(let requests) = try AlertmanagerReceiver(name: "am", cluster: cluster).action(for: message, now: Messages.now)
        else { throw CancellationError() }
        #expect(requests.map(\.url) == ["http://am-0:9093/api/v2/alerts", "http://am-1:9093/api/v2/alerts"])
        #expect(requests[0].body == requests[1].body)
        #expect(requests[0].headers.contains { $0.name == "authorization" && $0.value == "Basic dTpw" })
        try Golden.expect(json: requests[0].body, "alertmanager-\(message.kind).json")
    }

    @Test("the email equals the golden file", arguments: Messages.all)
    func email(_ message: AlertNotification) throws {
        let mailbox = Mailbox(
            server: "smtp://mail.example.org:587",
            from: try #require(MailAddress("Pushwatch <alerts@example.org>")),
            to: [try #require(MailAddress("on-call@example.org")), try #require(MailAddress("Jürgen <j@example.org>"))]
        )
        guard case .mail(let mail) = EmailReceiver(name: "mail", mailbox: mailbox).action(for: message, now: Messages.now) else {
            throw CancellationError()
        }
        #expect(mail.sender == "alerts@example.org" && mail.recipients == ["on-call@example.org", "j@example.org"])
        try Golden.expect(mail: mail, "email-\(message.kind).eml")
    }
}
