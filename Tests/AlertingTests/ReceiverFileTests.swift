import AlertRules
import Foundation
import HTTPClient
import TestDatabase
import Testing

@testable import Alerting

@Suite("alerts/receivers.yml")
struct ReceiverFileTests {
    private static let secret = "whsec_" + Data(count: 24).base64EncodedString()
    private let text = """
        receivers:
          - name: on-call
            webhook: { url: "https://example.org/${ROOM}", secret: "${SECRET}" }
          - name: quiet
            log: {}
        routes:
          - severity: [critical, page]
            receivers: [on-call]
          - receivers: [quiet]
        """

    @Test("receivers, routes, and values from the environment are read")
    func reads() throws {
        let set = try ReceiverFile.parse(text, environment: ["ROOM": "r1", "SECRET": Self.secret])
        var hook = try ReceiverConfiguration.webhook("on-call", url: "https://example.org/r1", secret: WebhookSecret(Self.secret))
        hook.policy.grouping = NotificationGrouping()
        #expect(set.receivers == [hook, ReceiverConfiguration(LogReceiver(name: "quiet"))])
        #expect(set.names(for: .page) == ["on-call", "quiet"])
        #expect(set.names(for: .ticket) == ["quiet"])
    }

    @Test("a file that cannot be read is an error with its cause")
    func unreadable() {
        let fault = #expect(throws: ReceiverFile.Fault.self) { try ReceiverFile.read(path: NSTemporaryDirectory(), environment: [:]) }
        #expect(fault?.message == "cannot read this file: Is a directory")
    }

    @Test("the example that is shipped can be read")
    func example() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let path = root.appendingPathComponent("alerts/receivers.example.yml").path
        let environment = [
            "ALERT_WEBHOOK_SECRET": Self.secret, "PAGERDUTY_ROUTING_KEY": String(repeating: "k", count: 32), "SMTP_PASSWORD": "p",
            "SLACK_BOT_TOKEN": "xoxb-1", "SLACK_WEBHOOK_URL": "https://hooks.slack.com/services/T/B/x", "NTFY_TOPIC": "t",
            "NTFY_TOPIC_BEN": "t2",
        ]
        let set = try ReceiverFile.read(path: path, environment: environment)
        #expect(
            set.receivers.map(\.name) == [
                "on-call", "pagerduty", "slack", "slack-app", "alertmanager", "mail", "phone", "phone-ben", "log",
            ]
        )
        #expect(set.names(for: .page) == ["on-call", "pagerduty", "slack-app", "alertmanager", "log"])
        #expect(set.names(for: .ticket) == ["slack", "mail", "log"])
        #expect(set.names(for: .info, rule: "PushAuthBroken", labels: ["provider": "apns"]) == ["slack", "mail", "phone", "log"])
        // Where its secrets are not, each is a warning with its line.
        let findings = ReceiverFile.check(
            path: path,
            environment: [:],
            rules: RuleCheck.report(alertsDirectory: root.path + "/alerts").rules
        )
        #expect(findings.count == 7 && findings.allSatisfy { $0.severity == .warning })
        #expect(findings.first?.position.line == 11)
    }

    @Test(
        "what no alert takes, and whom no alert reaches, is an error",
        arguments: [
            ("[{ rule: [Auth*], receivers: [phone] }]", "", ":5:4: error: no rule is called 'Auth*', so this route matches nothing"),
            ("[{ rule: [Slow], severity: [page], receivers: [phone] }]", "", "no rule of this route has the severity page"),
            ("[{ labels: { team: web }, receivers: [phone] }]", "", "no alert of this route has the label team with 'web'"),
            ("[{ labels: { provider: apsn }, receivers: [phone] }]", "", "no alert of this route has the label provider with 'apsn'"),
            // Labels that different alerts have, and no alert together.
            (
                "[{ labels: { provider: fcm, receiver: x }, receivers: [phone] }]", "",
                "no alert of this route has the label receiver with 'x'"
            ),
            ("[{ labels: { region: eu }, receivers: [phone] }]", "", "no alert of this route has the label region with 'eu'"),
            (
                "[{ severity: [page, critical], receivers: [log] }, { severity: [ticket], receivers: [phone] }]", "fallback: [log]",
                "some alerts of severity page reach no receiver that notifies people: EvaluatorDataGap, Failing"
            ),
            // Pages of other providers go to the fallback.
            (
                "[{ labels: { provider: apns }, receivers: [phone] }]", "fallback: [log]",
                "severity page reach no receiver that notifies people"
            ),
            ("[{ severity: [page], receivers: [phone] }]", "fallback: [log]", "some alerts of severity critical reach no receiver"),
            ("[{ severity: [page, critical], receivers: [phone] }]", "fallback: [phone]", "no alert reaches the receiver 'log'"),
            // Those of this provider match a route, so they do not go to the fallback.
            (
                "[{ labels: { provider: apns }, receivers: [log] }]", "fallback: [phone]",
                "severity page reach no receiver that notifies people"
            ),
            (
                "[{ severity: [page, critical, ticket, info], receivers: [log, phone] }]", "fallback: []",
                "yml:6:11: error: an empty fallback is none"
            ),
            (
                "[{ severity: [page, critical], receivers: [phone] }, { labels: { provider: fcm }, receivers: [log] }]",
                "fallback: [phone]", "warning: some alerts of severity ticket reach no receiver that notifies people: Slow"
            ),
            (
                "[{ severity: [ticket], receivers: [log] }]", "fallback: [log, phone]",
                "warning: some alerts of severity ticket reach no receiver that notifies people: LabelsFolded"
            ),
            ("[{ receivers: [log, phone] }]", "", nil),
            // Each provider has a receiver, so none of their pages goes to the fallback.
            (
                "[{ labels: { provider: apns }, receivers: [phone] }, { labels: { provider: fcm }, receivers: [phone] }, "
                    + "{ rule: [EvaluatorDataGap, \"Notifications*\", \"Receiver*\", LabelsFolded, RulesNotEvaluated], "
                    + "receivers: [phone] }, "
                    + "{ severity: [info, ticket], receivers: [log, phone] }]", "fallback: [log]", nil
            ),
        ] as [(String, String, String?)]
    )
    func deadRoutes(_ routes: String, _ fallback: String, _ expected: String?) throws {
        func rule(_ name: String, _ severity: String) -> String {
            """
                  - alert: \(name)
                    ratio: { reason: [auth], above: 1% }
                    for: 10m
                    by: [provider]
                    labels: { severity: \(severity), team: push }
                    annotations: { summary: s, meaning: m, action: a, runbook: "https://example.org" }
            """
        }
        let rules = "groups:\n  - name: g\n    rules:\n" + rule("Failing", "page") + "\n" + rule("Slow", "ticket") + "\n"
        let read = RuleSet.read([SourceText(path: "x.yml", text: rules)]) { _ in true }
        #expect(read.findings.isEmpty, "\(read.findings)")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("routes-\(UUID().uuidString).yml")
        defer { try? FileManager.default.removeItem(at: file) }
        try "receivers:\n  - { name: log, log: {} }\n  - { name: phone, ntfy: { topic: t } }\nroutes:\n  \(routes)\n\(fallback)\n"
            .write(to: file, atomically: true, encoding: .utf8)
        let findings = ReceiverFile.check(path: file.path, environment: [:], rules: read.rules).map(\.description)
        if let expected {
            #expect(findings.contains { $0.contains(expected) }, "\(findings)")
        } else {
            #expect(findings.isEmpty, "\(findings)")
        }
    }

    @Test(
        "a webhook secret that the official libraries would read differently is an error",
        arguments: ["plain text", "whsec_%%%", "whsec_QUJD"]
    )
    func secrets(_ secret: String) {
        let file = "receivers: [{ name: a, webhook: { url: \"https://example.org\", secret: \"\(secret)\" } }]"
        let fault = #expect(throws: ReceiverFile.Fault.self) { try ReceiverFile.parse(file) }
        #expect(fault?.message.contains("whsec_ followed by 24 to 64 bytes in base64") == true)
    }

    @Test("routes by severity, rule and labels, each of which must fit, and the fallback")
    func routing() throws {
        let set = try ReceiverFile.parse(
            """
            receivers: [{ name: a, log: {} }, { name: b, log: {} }, { name: c, log: {} }]
            routes:
              - { rule: ["Provider*", Auth], labels: { provider: fcm }, receivers: [a] }
              - { severity: [critical], labels: { app: "com.*.shop" }, receivers: [b] }
            fallback: [c]
            """
        )
        #expect(set.names(for: .page, rule: "ProviderUnavailable", labels: ["provider": "fcm"]) == ["a"])
        #expect(set.names(for: .page, rule: "ProviderUnavailable", labels: ["provider": "apns"]) == ["c"])
        #expect(set.names(for: .page, rule: "Authority", labels: ["provider": "fcm"]) == ["c"])
        #expect(set.names(for: .critical, rule: "Auth", labels: ["provider": "fcm", "app": "com.example.shop"]) == ["a", "b"])
        #expect(set.names(for: .critical, rule: "Auth", labels: ["app": "com.shop"]) == ["c"])
    }

    @Test("each kind of receiver is read with all its keys")
    func kinds() throws {
        let set = try ReceiverFile.parse(
            """
            receivers:
              - { name: s, slack: { url: "https://hooks.slack.com/services/T/B/x" } }
              - { name: p, pagerduty: { routing_key: 0123456789abcdef0123456789abcdef, url: "https://events.eu.pagerduty.com/v2/enqueue" } }
              - { name: n, ntfy: { topic: t, server: "https://ntfy.example.org", token: tk } }
              - { name: a, alertmanager: { members: ["http://a:9093"], user: u, password: p } }
              - { name: e, email: { server: "smtp://m:25", tls: off, ca_file: /ca.pem, from: "N <a@b>", to: [c@d] } }
            """
        )
        let mailbox = Mailbox(
            server: "smtp://m:25",
            encryption: .off,
            caFile: "/ca.pem",
            from: try #require(MailAddress("N <a@b>")),
            to: [try #require(MailAddress("c@d"))]
        )
        let expected: [AnyHashable] = [
            SlackReceiver(name: "s", url: "https://hooks.slack.com/services/T/B/x"),
            PagerDutyReceiver(
                name: "p",
                routingKey: "0123456789abcdef0123456789abcdef",
                url: "https://events.eu.pagerduty.com/v2/enqueue"
            ),
            NtfyReceiver(name: "n", topic: "t", server: "https://ntfy.example.org", token: "tk"),
            AlertmanagerReceiver(name: "a", cluster: AlertmanagerCluster(members: ["http://a:9093"], user: "u", password: "p")),
            EmailReceiver(name: "e", mailbox: mailbox),
        ]
        #expect(set.receivers.map { AnyHashable($0.receiver) } == expected)
    }

    @Test(
        "alerts that page nobody are grouped, a minute after the first and five minutes apart, unless the file or the kind excludes it"
    )
    func grouping() throws {
        let set = try ReceiverFile.parse(
            """
            receivers:
              - { name: standard, webhook: { url: "https://example.org/r1" } }
              - { name: slow, ntfy: { topic: t }, group_wait: 10m, group_interval: 1h }
              - { name: alone, slack: { url: "https://hooks.slack.com/services/T/B/x" }, group_wait: off }
              - { name: app, slack: { token: xoxb-1, channel: C1 } }
              - { name: pager, pagerduty: { routing_key: 0123456789abcdef0123456789abcdef } }
            """
        )
        let slow = NotificationGrouping(wait: RuleDuration(minutes: 10), interval: RuleDuration(minutes: 60))
        #expect(set.receivers.map(\.policy.grouping) == [NotificationGrouping(), slow, nil, nil, nil])
        #expect(set.groupings.map(\.receiver) == ["standard", "slow"])
        #expect(NotificationGrouping().wait.minutes == 1 && NotificationGrouping().interval.minutes == 5)
    }

    @Test("an alert that no route fits goes to everybody")
    func fallback() {
        let set = ReceiverSet(
            receivers: [.log, .webhook("hook", url: "http://h")],
            routes: [AlertRoute(severities: [.page], receivers: ["hook"])]
        )
        #expect(set.names(for: .info) == ["log", "hook"])
    }

    @Test(
        "what cannot be meant is an error with its line",
        arguments: [
            ("receivers:\n  - name: a\n    webhok: {}", 3), ("receivers:\n  - webhook: { url: 'https://x' }", 2),
            ("receivers:\n  - name: a\n    webhook: { url: 'ftp://x' }", 3),
            ("receivers:\n  - name: a\n    webhook: { url: 'https://${NOT_SET}' }", 3),
            ("receivers:\n  - name: a\n    log: {}\nroutes:\n  - receivers: [b]", 5),
            ("receivers:\n  - name: a\n    log: {}\nfallback: [b]", 4),
            ("receivers:\n  - name: a\n    log: {}\n  - name: a\n    log: {}", 4),
            ("receivers:\n  - name: a b\n    log: {}", 2),
            ("receivers:\n  - name: a\n    log: {}\n    slack: { url: 'https://x' }", 2),
            ("receivers:\n  - name: a\n    slack: { url: hooks.slack.com }", 3),
            ("receivers:\n  - name: a\n    pagerduty: { routing_key: short }", 3),
            ("receivers:\n  - name: a\n    ntfy: { topic: 'a/b' }", 3),
            ("receivers:\n  - name: a\n    ntfy: { topic: t }\n    group_wait: 2h", 4),
            ("receivers:\n  - name: a\n    ntfy: { topic: t }\n    group_interval: soon", 4),
            ("receivers:\n  - name: a\n    ntfy: { topic: t }\n    group_wait: off\n    group_interval: 5m", 5),
            ("receivers:\n  - name: a\n    log: {}\n    group_wait: 1m", 4),
            ("receivers:\n  - name: a\n    slack: { token: t, channel: c }\n    group_interval: 5m", 4),
            ("receivers:\n  - name: a\n    alertmanager:\n      members: []", 4),
            ("receivers:\n  - name: a\n    alertmanager:\n      members:\n        - http://a:9093/api/v2/alerts", 5),
            ("receivers:\n  - name: a\n    email:\n      server: http://mail", 4),
            ("receivers:\n  - name: a\n    email:\n      server: smtp://mail\n      from: a@b\n      to: [nobody]", 6),
            ("receivers:\n  - name: a\n    email:\n      server: smtp://mail\n      tls: maybe", 5),
            ("receivers:\n  - name: a\n    log: {}\nroutes:\n  - receivers: [a]\n    labels: { x: [] }", 6),
            ("receivers:\n  - name: a\n    log: {}\nroutes:\n  - severity: [loud]\n    receivers: [a]", 5),
        ]
    )
    func faults(_ text: String, _ line: Int) {
        let fault = #expect(throws: ReceiverFile.Fault.self) { try ReceiverFile.parse(text) }
        #expect(fault?.line == line, "\(fault.map(String.init(describing:)) ?? "")")
    }

    @Test("`rules check` lists every fault with its line and column, and what a misspelt key was meant to be")
    func everyFault() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString).yml")
        defer { try? FileManager.default.removeItem(at: file) }
        try """
        receivers:
          - name: a
            webhok: { url: "https://example.org" }
            repeet: 4h
          - name: b
            webhook: { url: nope }
          - name: c
            email: { server: "smtp://mail", from: a@b.example, to: [] }
        routes:
          - receivers: [a, d]
        """.write(to: file, atomically: true, encoding: .utf8)
        let findings = ReceiverFile.check(path: file.path, environment: [:], rules: [])
        #expect(
            findings.map { "\($0.position.line):\($0.position.column)" } == ["3:5", "4:5", "6:21", "8:60", "10:20"],
            "\(findings)"
        )
        #expect(findings.first?.message.hasPrefix("unknown key 'webhok'; did you mean 'webhook'? known: name, ") == true)
        #expect(findings.last?.message == "there is no receiver 'd'; defined: a, b, c")
    }

    @Test("a broken file keeps the old receivers")
    func broken() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("receivers-\(UUID().uuidString).yml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let receiverRegistry = ReceiverRegistry(
            fixed: [.log],
            file: path,
            environment: ["ROOM": "r1", "SECRET": Self.secret],
            logger: .silent
        )
        #expect(receiverRegistry.set.receivers.map(\.name) == ["log"])
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        receiverRegistry.refresh()
        #expect(receiverRegistry.set.receivers.map(\.name) == ["log", "on-call", "quiet"])
        try "receivers: 3".write(toFile: path, atomically: true, encoding: .utf8)
        receiverRegistry.refresh()
        #expect(receiverRegistry.set.receivers.count == 3)
        #expect(receiverRegistry.fault?.contains("expected a list") == true)
    }

    @Test("while an editor or a volume has taken the file away, or has emptied it, the receivers it named stay")
    func gone() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("receivers-\(UUID().uuidString).yml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let receiverRegistry = ReceiverRegistry(
            fixed: [.log],
            file: path,
            environment: ["ROOM": "r1", "SECRET": Self.secret],
            logger: .silent
        )
        #expect(receiverRegistry.fault == nil, "there need be none")
        for lose in [{ try FileManager.default.removeItem(atPath: path) }, { try Data().write(to: URL(filePath: path)) }] {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            receiverRegistry.refresh()
            #expect(receiverRegistry.fault == nil && receiverRegistry.set.receivers.count == 3)
            try lose()
            receiverRegistry.refresh()
            #expect(
                receiverRegistry.set.receivers.count == 3 && receiverRegistry.fault?.contains("receivers: []") == true,
                "\(receiverRegistry.fault ?? "no fault")"
            )
        }
        try "receivers: []".write(toFile: path, atomically: true, encoding: .utf8)
        receiverRegistry.refresh()
        #expect(receiverRegistry.set.receivers.map(\.name) == ["log"] && receiverRegistry.fault == nil)
    }
}
