import ProviderSimulator
import PushContract
import ServiceKit
import Testing

@testable import Providers

@Suite struct LiveActivityPushTests {
    /// Deliberately not canonical: spaces, order and escapes must survive.
    static let state = Array(#"{ "score" : "1\u002d0", "b": 1, "a": 2.50 }"#.utf8)
    static let attributes = Array(#"{"matchId": "m-1"}"#.utf8)
    static let start = LiveActivityPush.Start(attributesType: "MatchAttributes", attributes: attributes)
    static let alert = LiveActivityAlert(title: "Kick-off", body: "It has begun", sound: "default")

    static func push(
        _ event: LiveActivityPush.Event = .update,
        state: [UInt8]? = state,
        at moment: Timestamp = Samples.moment,
        _ change: (inout LiveActivityPush) -> Void = { _ in }
    ) -> LiveActivityPush {
        var push = LiveActivityPush(event, contentState: state, timestamp: moment)
        change(&push)
        return push
    }

    private func text(_ push: LiveActivityPush) throws -> String {
        String(decoding: try #require(try push.message().payload).bytes, as: UTF8.self)
    }

    @Test("an update carries the state byte for byte, and the same push gives the same bytes")
    func update() throws {
        let push = Self.push {
            $0.staleDate = Samples.moment + .seconds(60)
            $0.relevanceScore = 75.5
        }
        let expected = """
            {"aps":{"timestamp":1790000000,"event":"update","content-state":{ "score" : "1\\u002d0", "b": 1, "a": 2.50 },\
            "stale-date":1790000060,"relevance-score":75.5}}
            """
        #expect(try text(push) == expected)
        #expect(try text(push) == text(push))
    }

    @Test("a start carries type, attributes, alert and where updates come from, and expires in five minutes")
    func starts() throws {
        var start = Self.start
        start.input = .channel("dHN0==")
        let push = Self.push(.start(start)) { $0.alert = Self.alert }
        let expected = """
            {"aps":{"timestamp":1790000000,"event":"start","attributes-type":"MatchAttributes","attributes":{"matchId": "m-1"},\
            "input-push-channel":"dHN0==","content-state":{ "score" : "1\\u002d0", "b": 1, "a": 2.50 },\
            "alert":{"body":"It has begun","sound":"default","title":"Kick-off"}}}
            """
        #expect(try text(push) == expected)
        #expect(try push.message().expiresAt == Samples.moment + .seconds(300))
        start.input = .token
        #expect(try text(Self.push(.start(start)) { $0.alert = Self.alert }).contains(#","input-push-token":1,"#))
        let localized = LiveActivityAlert(title: LiveActivityAlert.Text.localized(key: "GOAL", arguments: ["A"]))
        #expect(
            try text(Self.push(.start(start)) { $0.alert = localized }).contains(#""title":{"loc-args":["A"],"loc-key":"GOAL"}"#)
        )
    }

    @Test("an end may say when it leaves the Lock Screen, and needs no state")
    func ends() throws {
        let push = Self.push(.end(dismissal: Samples.moment + .seconds(600)), state: nil)
        #expect(try text(push) == #"{"aps":{"timestamp":1790000000,"event":"end","dismissal-date":1790000600}}"#)
        #expect(try text(Self.push(.end(dismissal: Samples.moment + .seconds(-60)))).contains(#""dismissal-date":1789999940"#))
    }

    struct Broken: Sendable, CustomTestStringConvertible {
        var field: String
        var code: String
        var push: LiveActivityPush
        var testDescription: String { "\(push.event.name): \(field) \(code)" }

        init(_ field: String, _ push: LiveActivityPush) { self.init(field, "InvalidPushType", push) }

        init(_ field: String, _ code: String, _ push: LiveActivityPush) {
            self.field = field
            self.code = code
            self.push = push
        }
    }

    static let broken = [
        Broken("contentState", push(state: nil)),
        Broken("contentState", push(state: Array("[1]".utf8))),
        Broken("contentState", push(state: Array(#"{"a":1}x"#.utf8))),
        Broken("contentState", "PayloadTooLarge", push(state: Array(#"{"a":"\#(String(repeating: "x", count: 4096))"}"#.utf8))),
        Broken("timestamp", push(at: Timestamp(seconds: 0))),
        Broken("priority", "BadPriority", push { $0.priority = .low }),
        Broken("staleDate", push { $0.staleDate = $0.timestamp }),
        Broken("relevanceScore", push { $0.relevanceScore = .infinity }),
        Broken("collapseId", "BadCollapseId", push { $0.collapseId = String(repeating: "x", count: 65) }),
        Broken("dismissalDate", push(.end(dismissal: Samples.moment + .seconds(4 * 3600 + 1)))),
        Broken("alert", push(.start(start))),
        Broken("alert", push(.start(start)) { $0.alert = LiveActivityAlert(title: "", body: nil, sound: "x") }),
        Broken("attributesType", push(.start(.init(attributesType: "", attributes: attributes))) { $0.alert = alert }),
        Broken("attributes", push(.start(.init(attributesType: "A", attributes: []))) { $0.alert = alert }),
        Broken("contentState", push(.start(start), state: nil) { $0.alert = alert }),
        Broken(
            "inputPushChannel",
            "BadChannelId",
            push(.start(.init(attributesType: "A", attributes: attributes, input: .channel("")))) { $0.alert = alert }
        ),
        Broken(
            "expiresAt",
            "BadExpirationDate",
            push(.start(start)) {
                $0.alert = alert
                $0.expiresAt = Samples.moment
            }
        ),
    ]

    @Test("a broken rule is refused with the member at fault", arguments: broken)
    func refused(row: Broken) {
        let fault = #expect(throws: PushError.self) { try row.push.message() }
        #expect(fault?.field == row.field)
        #expect(fault?.code == row.code)
    }

    @Test("the payload limit counts the whole payload: 4,096 bytes pass, one more does not")
    func size() throws {
        let empty = try #require(try Self.push(state: Array(#"{"a":""}"#.utf8)).message().payload).bytes.count
        let fits = Array(#"{"a":"\#(String(repeating: "x", count: 4096 - empty))"}"#.utf8)
        #expect(try Self.push(state: fits).message().payload?.bytes.count == 4096)
        let larger = Array(#"{"a":"\#(String(repeating: "x", count: 4097 - empty))"}"#.utf8)
        #expect(throws: PushError.self) { try Self.push(state: larger).message() }
    }

    private static let lives = [push(), push(.start(start)) { $0.alert = alert }, push(.end())]

    private func headers(_ push: LiveActivityPush) throws -> [String: String] {
        let list = APNsRequest.headers(try push.message(), app: "com.example.app", attemptId: "a")
        return Dictionary(list.map { ($0.name, $0.value) }) { first, _ in first }
    }

    @Test("P-3.3: a start, an update and an end go to the topic {bundleId}.push-type.liveactivity", arguments: lives)
    func topic(of push: LiveActivityPush) throws {
        #expect(try headers(push)["apns-topic"] == "com.example.app.push-type.liveactivity")
    }

    @Test("P-3.4: a start, an update and an end have the push type liveactivity", arguments: lives)
    func pushType(of push: LiveActivityPush) throws { #expect(try headers(push)["apns-push-type"] == "liveactivity") }

    @Test("every follower gets the identical body, under the Live Activity topic, and each event is accepted")
    func followers() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            let now = simulation.clock.now
            let message = try Self.push(at: now) { $0.collapseId = "match-1" }.message()
            for digit in ["1", "2", "3"] {
                let outcome = await simulation.send(message, by: provider, token: String(repeating: digit, count: 64), attemptId: digit)
                #expect(outcome.status == .sent, "\(outcome.detail)")
            }
            let requests = simulation.simulator.requests(provider: .apns)
            #expect(Set(requests.map(\.body)).count == 1)
            #expect(requests.first?.body.contains(String(decoding: Self.state, as: UTF8.self)) == true)
            #expect(requests.allSatisfy { $0.header("apns-topic") == "\(Samples.bundle).push-type.liveactivity" })
            #expect(requests.allSatisfy { $0.header("apns-push-type") == "liveactivity" && $0.header("apns-priority") == "10" })
            #expect(requests.allSatisfy { $0.header("apns-collapse-id") == "match-1" && $0.header("apns-expiration") == nil })
            let start = Self.push(.start(Self.start), at: now) {
                $0.alert = Self.alert
                $0.priority = .normal
            }
            for push in [start, Self.push(.end(), at: now)] {
                let outcome = await simulation.send(try push.message(), by: provider)
                #expect(outcome.status == .sent, "\(outcome.detail)")
            }
        }
    }

    @Test("through FCM it goes to the app's token together with the activity's own")
    func throughFCM() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.fcm()
            let message = try Self.push(at: simulation.clock.now).message()
            var target = Samples.target(.fcm)
            let without = await provider.send(message, to: target, attemptId: "a", now: simulation.clock.now)
            #expect(without.providerErrorCode == "INVALID_ARGUMENT" && without.httpStatus == nil)
            target.liveActivityToken = "a1b2"
            let outcome = await provider.send(message, to: target, attemptId: "a", now: simulation.clock.now)
            #expect(outcome.status == .sent, "\(outcome.detail)")
            let body = try #require(simulation.simulator.requests(provider: .fcm).last?.body)
            let apns = try #require(try Samples.json(body)["message"]?["apns"])
            #expect(apns["live_activity_token"] == .string("a1b2"))
            #expect(apns["headers"]?["apns-priority"] == .string("10"))
            #expect(body.contains(#""payload":{"aps":{"timestamp""#))
            #expect(body.contains(String(decoding: Self.state, as: UTF8.self)))
        }
    }

    @Test("a stored send may carry a complete payload, which is checked and sent as it is")
    func stored() throws {
        let payload = #"{ "aps": {"alert":{"title":"T"}}, "x": 1 }"#
        let content = JSONValue.object(["payload": .string(payload)]).text
        let message = try PushMessage(content: content, expiresAt: nil)
        #expect(try APNsRules.encode(message, app: Samples.bundle).bytes == Array(payload.utf8))
        #expect(throws: PushError.self) { try PushMessage(content: #"{"payload":"{\"aps\":{}}"}"#, expiresAt: nil) }
        #expect(throws: PushError.self) { try PushMessage(content: #"{"payload":"{}"}"#, expiresAt: nil) }
    }
}
