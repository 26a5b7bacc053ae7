import AlertRules
import Foundation
import HTTPClient
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Alerting

@Suite("Slack, PagerDuty and ntfy, against fakes that check their contracts, over real HTTP")
struct ReceiverContractTests {
    private let now = Messages.now

    private func deliver(
        _ check: @escaping @Sendable (Hook.Got) -> Hook.Answer,
        _ make: @escaping @Sendable (String) -> any AlertReceiver
    ) async throws {
        let client = TestHTTP()
        try await withHook(Hook(checking: check)) { [now] url in
            let receiver = make(url)
            for message in Messages.all + [Messages.extreme] {
                let response = try await client.send(try Messages.request(receiver, message))
                #expect(receiver.verdict(on: response, now: now) == .delivered, "\(String(decoding: response.body, as: UTF8.self))")
            }
        }
    }

    @Test("messages of any size are within Slack's limits")
    func slack() async throws { try await deliver(Contracts.slack) { SlackReceiver(name: "chat", url: $0) } }

    @Test("events of any size are within PagerDuty's limits")
    func pagerDuty() async throws {
        try await deliver(Contracts.pagerDuty) { PagerDutyReceiver(name: "pager", routingKey: String(repeating: "k", count: 32), url: $0) }
    }

    /// Everything a receiver says of an alert, in any size.
    private static var alert: [AlertNotification] {
        Messages.all + [Messages.extreme]
            + [Messages.firing, Messages.extreme].map { message in
                var message = message
                message.event = .acknowledged
                message.acknowledgedBy = String(repeating: "Jürgen <&> ", count: 100)
                return message
            }
    }

    @Test("what a Slack app posts, edits and answers is within Slack's limits, of any size")
    func slackApp() async throws {
        let client = TestHTTP()
        try await withHook(Hook(checking: Contracts.slackApp)) { [now] url in
            let receiver = SlackBotReceiver(name: "app", token: "xoxb-1", channel: "C1", url: url)
            for var message in Self.alert {
                for thread in [nil, "C1/1.2"] {
                    message.thread = thread
                    let requests: [OutboundRequest]
                    switch try receiver.action(for: message, now: now) {
                    case .request(let request): requests = [request]
                    case .edit(let edit, let reply, _): requests = [edit, reply]
                    default: requests = []
                    }
                    #expect(requests.count == (thread == nil ? 1 : 2))
                    for var request in requests {
                        // The method is in the path; the listener has one.
                        request.url = url
                        let response = try await client.send(request)
                        #expect(receiver.verdict(on: response, now: now) == .delivered, "\(String(decoding: response.body, as: UTF8.self))")
                    }
                }
            }
        }
    }

    @Test("acknowledging in PagerDuty is an event within its limits, under the key of the trigger")
    func pagerDutyAcknowledge() throws {
        let receiver = PagerDutyReceiver(name: "pager", routingKey: String(repeating: "k", count: 32))
        let trigger = Hook.Got(headers: [:], body: try Messages.request(receiver, Messages.firing).body)
        for message in Self.alert where message.event == .acknowledged {
            let got = Hook.Got(headers: [:], body: try Messages.request(receiver, message).body)
            #expect(Contracts.pagerDuty(got).status == 202)
            #expect(got.json["event_action"] as? String == "acknowledge")
            if message.group == Messages.firing.group { #expect(got.json["dedup_key"] as? String == trigger.json["dedup_key"] as? String) }
        }
    }

    @Test("messages of any size are within ntfy's limits")
    func ntfy() async throws { try await deliver(Contracts.ntfy) { NtfyReceiver(name: "phone", topic: "on-call", server: $0) } }

    @Test("an alert's Slack messages begin with the same line")
    func sameFirstLine() throws {
        let receiver = SlackReceiver(name: "chat", url: "http://slack/")
        let lines = try Messages.all.map { message -> String in
            let object = try JSONSerialization.jsonObject(with: Data(try Messages.request(receiver, message).body)) as? [String: Any]
            return String((object?["text"] as? String ?? "").prefix { $0 != "\n" })
        }
        #expect(lines == Array(repeating: "*[page] ProviderUnavailable provider=fcm #0198a1b2*", count: 2))
    }

    @Test(
        "Slack has taken a message when it says ok",
        arguments: [
            (200, "ok", ResponseVerdict.delivered), (200, #"{"ok":true}"#, .delivered),
            (200, #"{"ok":false,"error":"ratelimited"}"#, .retry(after: nil)),
            (200, #"{"ok":false,"error":"channel_not_found"}"#, .deadLettered),
            (200, "<html>Sign in to the Wi-Fi</html>", .retry(after: nil)),
            (400, "invalid_payload", .deadLettered), (403, "action_prohibited", .deadLettered), (404, "no_service", .deadLettered),
            (410, "channel_is_archived", .deadLettered), (429, "", .retry(after: nil)), (500, "", .retry(after: nil)),
        ]
    )
    func slackVerdict(_ status: Int, _ body: String, _ verdict: ResponseVerdict) {
        let response = OutboundResponse(status: status, body: Array(body.utf8))
        #expect(SlackReceiver(name: "chat", url: "http://slack/").verdict(on: response, now: now) == verdict)
    }

    @Test(
        "PagerDuty accepts with 202 alone",
        arguments: [(202, ResponseVerdict.delivered), (200, .retry(after: nil)), (400, .deadLettered), (429, .retry(after: nil))]
    )
    func pagerDutyVerdict(_ status: Int, _ verdict: ResponseVerdict) {
        let receiver = PagerDutyReceiver(name: "pager", routingKey: "k")
        #expect(receiver.verdict(on: OutboundResponse(status: status), now: now) == verdict)
    }

    @Test("one incident an alert: the same key for trigger and resolve, and a short one for long names")
    func dedupKey() throws {
        let receiver = PagerDutyReceiver(name: "pager", routingKey: "k")
        var keys: [String] = []
        for message in Messages.all + [Messages.extreme] {
            let object = try JSONSerialization.jsonObject(with: Data(try Messages.request(receiver, message).body)) as? [String: Any]
            keys.append(object?["dedup_key"] as? String ?? "")
        }
        #expect(keys[0] == "push.example.org:ProviderUnavailable:provider=fcm:0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
        #expect(keys[1] == keys[0])
        #expect(keys[2].hasPrefix("pushwatch:") && keys[2].hasSuffix("0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"))
    }

    @Test("PagerDuty is not notified of an alert that ended before it could be; Slack is notified of both in one message")
    func endedUndelivered() async throws {
        try await withDatabase { pool in
            let (chat, pager) = (Hook(checking: Contracts.slack), Hook(checking: Contracts.pagerDuty))
            let client = TestHTTP()
            try await withHook(chat) { chatURL in
                try await withHook(pager) { pagerURL in
                    let clock = ManualClock()
                    let receivers = [
                        ReceiverConfiguration(SlackReceiver(name: "chat", url: chatURL)),
                        ReceiverConfiguration(
                            PagerDutyReceiver(name: "pager", routingKey: String(repeating: "k", count: 32), url: pagerURL)
                        ),
                    ]
                    try await fireOnce(pool, receivers: receivers, clock: clock, resolved: true)
                    try await Notifier.forTest(pool, receivers: receivers, clock: clock, send: client.send).deliverDue()
                    let states = try await pool.query(
                        "SELECT receiver || ' ' || kind || ' ' || state FROM notifications ORDER BY receiver, seq"
                    )
                    #expect(
                        try states.map { try $0.decode(String.self) }
                            == [
                                "chat firing superseded", "chat resolved delivered", "pager firing superseded", "pager resolved superseded",
                            ]
                    )
                }
            }
            #expect(pager.got.isEmpty)
            #expect((chat.got.first?.json["text"] as? String)?.contains("FIRED AND RESOLVED") == true)
        }
    }

    @Test("routing keys, webhook paths, topics and passwords do not reach the database")
    func redaction() async throws {
        try await withDatabase { pool in
            let hook = Hook(checking: { got in Hook.Answer(status: 400, body: "bad: " + String(decoding: got.body, as: UTF8.self)) })
            let client = TestHTTP()
            try await withHook(hook) { url in
                let clock = ManualClock()
                let key = "s3cretkeys3cretkeys3cretkeys3cre"
                let receivers = [ReceiverConfiguration(PagerDutyReceiver(name: "pager", routingKey: key, url: url))]
                try await fireOnce(pool, receivers: receivers, clock: clock)
                try await Notifier.forTest(pool, receivers: receivers, clock: clock, send: client.send).deliverDue()
                let id = try #require(try await AlertStore.open(on: pool).first?.id)
                let record = try #require(try await NotificationHistory.notificationAttempts(of: id, on: pool).first)
                #expect(record.result == "deadLettered")
                #expect(record.responsePrefix?.contains("bad: ") == true && record.responsePrefix?.contains("s3cret") == false)
            }
        }
    }
}
