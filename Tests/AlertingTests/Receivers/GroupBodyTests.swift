import AlertRules
import Foundation
import HTTPClient
import PushContract
import Testing

@testable import Alerting

@Suite("Several alerts as each receiver gets them, byte for byte")
struct GroupBodyTests {
    /// A ticket that fires and one that ended.
    private static let group: NotificationGroup = {
        var firing = Messages.firing
        firing.severity = .ticket
        firing.rule = "UnknownProviderErrors"
        firing.labels = ["alertname": "UnknownProviderErrors", "severity": "ticket", "provider": "fcm", "team": "push"]
        firing.annotations["summary"] = "fcm: 2 % of sends fail for a reason Pushwatch does not know"
        var resolved = Messages.resolved
        resolved.alertId = UUID(uuidString: "0198A1B2-0000-7E5F-8A9B-0C1D2E3F4A5B") ?? resolved.alertId
        resolved.severity = .ticket
        resolved.rule = "ProviderUnreachable"
        resolved.labels = ["alertname": "ProviderUnreachable", "severity": "ticket", "provider": "apns", "team": "push"]
        resolved.group = ["provider": "apns"]
        resolved.annotations["summary"] = "apns: 7 % of sends get no answer"
        return NotificationGroup([resolved, firing], id: "group-12af8791578d4aba")
    }()

    private func request(_ receiver: any AlertReceiver) throws -> OutboundRequest {
        guard case .request(let request) = try receiver.action(for: Self.group, now: Messages.now) else { throw CancellationError() }
        return request
    }

    @Test("webhook: Alertmanager's body with several alerts, and what all of them have in common")
    func webhook() throws {
        let request = try request(
            WebhookReceiver(
                name: "on-call",
                url: "https://hooks.example.org/x",
                secret: WebhookSecret(Data(count: 24).base64EncodedString())
            )
        )
        #expect(request.headers.contains { $0.name == "webhook-id" && $0.value == Self.group.id })
        #expect(request.headers.contains { $0.name == "webhook-signature" })
        try Golden.expect(json: request.body, "webhook-group.json")
    }

    @Test("Slack: a line for each")
    func slack() throws {
        try Golden.expect(
            json: try request(SlackReceiver(name: "chat", url: "https://hooks.slack.com/services/T/B/x")).body,
            "slack-group.json"
        )
    }

    @Test("ntfy: a line for each")
    func ntfy() throws {
        try Golden.expect(json: try request(NtfyReceiver(name: "phone", topic: "on-call")).body, "ntfy-group.json")
    }

    @Test("email: a list, and each in full, in nobody's thread")
    func email() throws {
        let mailbox = Mailbox(
            server: "smtp://mail.example.org:587",
            from: try #require(MailAddress("Pushwatch <alerts@example.org>")),
            to: [try #require(MailAddress("on-call@example.org"))]
        )
        guard
            case .mail(let mail) = try (EmailReceiver(name: "mail", mailbox: mailbox) as any AlertReceiver).action(
                for: Self.group,
                now: Messages.now
            )
        else { throw CancellationError() }
        #expect(!mail.headers.contains { $0.name == "In-Reply-To" })
        try Golden.expect(mail: mail, "email-group.eml")
    }

    @Test("forty alerts as long as somebody could make them are within every receiver's limits")
    func extreme() throws {
        let many = NotificationGroup(
            (0..<40).map { index in
                var message = Messages.extreme
                message.alertId = UUID()
                message.severity = .ticket
                message.seq = index
                return message
            },
            id: "group-1"
        )
        func got(_ receiver: any AlertReceiver) throws -> Hook.Got {
            guard case .request(let request) = try receiver.action(for: many, now: Messages.now) else { throw CancellationError() }
            return Hook.Got(
                headers: Dictionary(request.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 }),
                body: Array(request.body)
            )
        }
        #expect(Contracts.slack(try got(SlackReceiver(name: "chat", url: "https://hooks.slack.com/services/T/B/x"))).status == 200)
        #expect(Contracts.ntfy(try got(NtfyReceiver(name: "phone", topic: "on-call"))).status == 200)
    }

    @Test("what fires comes first, in whatever order it was taken")
    func order() {
        #expect(NotificationGroup(Self.group.messages.reversed(), id: "x").messages == Self.group.messages)
        #expect(Self.group.messages.map(\.kind) == [.firing, .resolved])
    }

    @Test("receivers that keep an incident, a thread or an identity for each alert never get several alerts in one notification")
    func alone() throws {
        let receivers: [any AlertReceiver] = [
            SlackBotReceiver(name: "bot", token: "xoxb-1", channel: "C1"), PagerDutyReceiver(name: "pd", routingKey: "k"), LogReceiver(),
            AlertmanagerReceiver(name: "am", cluster: AlertmanagerCluster(members: ["http://am:9093"])),
        ]
        for receiver in receivers {
            let action = try receiver.action(for: Self.group, now: Messages.now)
            #expect(action.map { _ in true } == nil, "\(receiver.name)")
        }
    }
}
