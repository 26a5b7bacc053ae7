import Delivery
import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Providers
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("Live Activities of any type")
struct CustomActivityTests {
    private let state =
        #"{"sender": "Ops", "message": "Disk full", "timestamp": 1800000000, "isDemo": false, "messageIndex": 0, "totalMessages": 2}"#

    private func start(_ activityId: String = "p1", state: String? = nil, attributes: String = #"{"recipient": "Ann"}"#) -> String {
        """
        {"activityId": "\(activityId)", "uid": "ann", "attributes": \(attributes), "contentState": \(state ?? self.state),
         "alert": {"title": "Pager", "body": "Disk full"}}
        """
    }

    /// The push of a started pager, on its way to a phone with a push token and a start token.
    private func started(_ check: @Sendable (ScriptedAPNs.Call) throws -> Void) async throws {
        try await LiveRoutes.with { routes in
            try await routes.bench.phone("ann", "phone", 1)
            let answer = try await routes.call("/live-activities/PagerActivityAttributes/start", .post, as: "service", start())
            #expect(answer.status == .accepted)
            try await routes.bench.run()
            #expect(routes.bench.apns.calls.count == 1)
            try check(try #require(routes.bench.apns.calls.first))
        }
    }

    private func decoded(_ call: ScriptedAPNs.Call) throws -> CapturedStart.Aps {
        try JSONDecoder().decode(CapturedStart.self, from: Data(call.bytes)).aps
    }

    @Test("P-3.2: a start goes to the start token of the device, never to its push token")
    func token() async throws {
        try await started { call in
            #expect(call.token == LiveBench.startToken(1) && call.token != LiveBench.token(1))
            #expect(call.message.pushType == .liveactivity)
        }
    }

    @Test("P-4.1: aps.event of a start is \"start\"")
    func event() async throws { try await started { #expect($0.aps.text("event") == "start") } }

    @Test("P-4.2: content-state holds sender, message, timestamp, isDemo, messageIndex and totalMessages")
    func contentState() async throws {
        try await started { call in
            let state = try #require(call.aps["content-state"])
            #expect(state.members?.keys.sorted() == ["isDemo", "message", "messageIndex", "sender", "timestamp", "totalMessages"])
            #expect(state["sender"]?.string == "Ops" && state["message"]?.string == "Disk full")
        }
    }

    @Test("P-4.3: attributes-type is the name of the Swift struct")
    func attributesType() async throws {
        try await started { #expect($0.aps.text("attributes-type") == String(describing: PagerActivityAttributes.self)) }
    }

    @Test("P-4.4: attributes holds the static data, and decodes into the struct")
    func attributes() async throws {
        try await started { call in
            let attributes = try decoded(call).attributes
            #expect(attributes.recipient == "Ann")
        }
    }

    @Test("P-4.5: aps.timestamp counts Unix seconds")
    func timestamp() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.phone("ann", "phone", 1)
            _ = try await routes.call("/live-activities/PagerActivityAttributes/start", .post, as: "service", start())
            try await bench.run()
            #expect(abs((bench.apns.calls.first?.timestamp ?? 0) - bench.now.seconds) <= 1)
        }
    }

    @Test("P-5.1: content-state decodes into PagerActivityAttributes.ContentState with a default decoder")
    func decodes() async throws {
        try await started { call in
            let state = try decoded(call).state
            #expect(state.sender == "Ops" && state.message == "Disk full" && state.timestamp == 1_800_000_000)
            #expect(!state.isDemo && state.messageIndex == 0 && state.totalMessages == 2)
            let alert = try decoded(call).alert
            #expect(alert.title == "Pager")
        }
    }

    private struct CapturedStart: Decodable {
        struct Alert: Decodable {
            var title: String
        }

        struct Aps: Decodable {
            var attributes: PagerActivityAttributes
            var state: PagerActivityAttributes.ContentState
            var alert: Alert

            enum CodingKeys: String, CodingKey {
                case attributes, alert
                case state = "content-state"
            }
        }

        var aps: Aps
    }

    @Test("P-G: start, update and end of an activity reach the device that adopted it, in rising timestamps")
    func wholeLife() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.phone("ann", "phone", 1)
            let base = "/live-activities/PagerActivityAttributes"
            #expect(try await routes.call("\(base)/start", .post, as: "service", start()).status == .accepted)
            #expect(try await routes.call("\(base)/start", .post, as: "service", start()).status == .ok)
            try await bench.run()
            let token = #"{"activityId": "p1", "deviceId": "phone", "updateToken": "\#(LiveBench.updateToken(1))"}"#
            #expect(try await routes.call("\(base)/activity-token", .post, as: "ann", token).status == .ok)
            #expect(try await bench.states("ann", "phone", match: "PagerActivityAttributes/p1") == ["active"])
            let update = #"{"activityId": "p1", "contentState": \#(state.replacing("Disk full", with: "Disk fine"))}"#
            #expect(try await routes.call("\(base)/update", .post, as: "service", update).status == .accepted)
            try await bench.run()
            #expect(try await routes.call("\(base)/end", .post, as: "service", #"{"activityId": "p1"}"#).status == .accepted)
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["start", "update", "end"])
            #expect(bench.apns.calls.map(\.token).dropFirst() == [LiveBench.updateToken(1), LiveBench.updateToken(1)])
            let stamps = bench.apns.calls.map(\.timestamp)
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
            let ended = try await routes.call("\(base)/update", .post, as: "service", update)
            #expect(ended.status == .conflict && String(buffer: ended.body).contains("activity_ended"))
            let unknown = update.replacing("p1", with: "p2")
            #expect(try await routes.call("\(base)/update", .post, as: "service", unknown).status == .notFound)
        }
    }

    @Test("a start of an activityId that is in use, for another user or device or with another state, is a conflict; the same again is not")
    func otherStart() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("ann", "tablet", 2)
            try await bench.phone("bob", "bobs", 3)
            let base = "/live-activities/PagerActivityAttributes"
            let first = start().replacing(#""uid": "ann""#, with: #""uid": "ann", "deviceId": "phone""#)
            #expect(try await routes.call("\(base)/start", .post, as: "service", first).status == .accepted)
            let fine = state.replacing("Disk full", with: "Disk fine")
            for other in [
                start(), start().replacing(#""uid": "ann""#, with: #""uid": "bob""#), first.replacing("phone", with: "tablet"),
                first.replacing(state, with: fine),
            ] {
                let answer = try await routes.call("\(base)/start", .post, as: "service", other)
                #expect(answer.status == .conflict && String(buffer: answer.body).contains(#""conflict""#), "\(other)")
            }
            #expect(try await routes.call("\(base)/start", .post, as: "service", first).status == .ok)
            let update = #"{"activityId": "p1", "contentState": \#(fine)}"#
            #expect(try await routes.call("\(base)/update", .post, as: "service", update).status == .accepted)
            #expect(try await routes.call("\(base)/start", .post, as: "service", first).status == .ok, "a late repetition")
            try await bench.follows.unfollow(userId: "ann", matchId: "PagerActivityAttributes/p1", now: bench.now)
            #expect(try await routes.call("\(base)/start", .post, as: "service", first).status == .ok)
        }
    }

    @Test("the same start again is fine for a user without Live Activities who has unfollowed", arguments: [Platform.android, .web])
    func repeatedAfterUnfollow(_ platform: Platform) async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.fcmDevice("ann", "device", 1, platform: platform)
            let path = "/live-activities/PagerActivityAttributes/start"
            #expect(try await routes.call(path, .post, as: "service", start()).status == .accepted)
            try await bench.run()
            #expect(bench.android(1).count == 1)
            try await bench.follows.unfollow(userId: "ann", matchId: "PagerActivityAttributes/p1", now: bench.now)
            #expect(try await routes.call(path, .post, as: "service", start()).status == .ok)
            try await bench.fcmDevice("bob", "other", 2, platform: platform)
            let other = start().replacing(#""uid": "ann""#, with: #""uid": "bob""#)
            #expect(try await routes.call(path, .post, as: "service", other).status == .conflict)
        }
    }

    @Test(
        "P-G: what the type does not know is refused before anything leaves, with its place",
        arguments: [
            (#"{"sender": "Ops"}"#, "/contentState/"),
            (
                #"{"sender": 7, "message": "m", "timestamp": 1, "isDemo": true, "messageIndex": 0, "totalMessages": 1}"#,
                "/contentState/sender"
            ),
            (
                #"{"sender": "O", "message": "m", "timestamp": 1.5, "isDemo": true, "messageIndex": 0, "totalMessages": 1}"#,
                "/contentState/timestamp"
            ),
            (
                #"{"sender": "O", "message": "m", "timestamp": 1, "isDemo": true, "messageIndex": 0, "totalMessages": 0}"#,
                "/contentState/totalMessages"
            ),
            (
                #"{"sender": "O", "message": "m", "timestamp": 1, "isDemo": true, "messageIndex": 0, "totalMessages": 1, "colour": "red"}"#,
                "/contentState/colour"
            ),
        ]
    )
    func refused(_ state: String, _ pointer: String) async throws {
        try await LiveRoutes.with { routes in
            try await routes.bench.phone("ann", "phone", 1)
            let answer = try await routes.call(
                "/live-activities/PagerActivityAttributes/start",
                .post,
                as: "service",
                start(state: state)
            )
            #expect(answer.status == .unprocessableContent)
            #expect(String(buffer: answer.body).contains(pointer))
            try await routes.bench.run()
            #expect(routes.bench.apns.calls.isEmpty)
        }
    }

    @Test("C-25: a start without an alert, of an unknown type, to an unknown or an unreachable device is refused")
    func otherRefusals() async throws {
        try await LiveRoutes.with { routes in
            let base = "/live-activities/PagerActivityAttributes/start"
            #expect(try await routes.call(base, .post, as: "service", start()).status == .notFound)
            try await routes.bench.phone("ann", "phone", 1, startToken: false)
            let unreachable = try await routes.call(base, .post, as: "service", start())
            #expect(unreachable.status == .unprocessableContent)
            #expect(String(buffer: unreachable.body).contains("17.2"))
            let silent = #"{"activityId": "p1", "uid": "ann", "attributes": {"recipient": "Ann"}, "contentState": \#(state)}"#
            let withoutAlert = try await routes.call(base, .post, as: "service", silent)
            #expect(withoutAlert.status == .unprocessableContent && String(buffer: withoutAlert.body).contains("/alert"))
            #expect(try await routes.call("/live-activities/Nothing/start", .post, as: "service", start()).status == .notFound)
            #expect(
                try await routes.call("/live-activities/MatchActivityAttributes/start", .post, as: "service", start()).status == .conflict
            )
            #expect(try await routes.call(base, .post, as: "ann", start()).status == .forbidden)
        }
    }
}

@Suite("Schemas of attributes types")
struct ValueSchemaTests {
    private func schema(_ text: String) throws -> ValueSchema { try ValueSchema(try JSONParser.parse(Array(text.utf8))) }

    @Test(
        "a schema file with something that would not be checked is refused",
        arguments: [
            #"{"type": "strin"}"#, #"{"pattern": "a+"}"#, #"{"oneOf": []}"#, #"{"minimum": 3, "maximum": 2}"#,
            #"{"type": "object", "required": ["a"]}"#, #"{"minimum": "1"}"#, #"[]"#,
        ]
    )
    func refused(_ text: String) throws {
        let json = try JSONParser.parse(Array(text.utf8))
        #expect(throws: SchemaError.self) { try ValueSchema(json) }
    }

    @Test(
        "values",
        arguments: [
            (#"{"type": "integer"}"#, "1", true), (#"{"type": "integer"}"#, "1.5", false), (#"{"type": ["string", "null"]}"#, "null", true),
            (#"{"enum": ["a", "b"]}"#, #""b""#, true), (#"{"enum": ["a", "b"]}"#, #""c""#, false), (#"{"const": 1}"#, "2", false),
            (#"{"type": "array", "items": {"type": "string"}, "maxItems": 2}"#, #"["a", 1]"#, false),
            (#"{"type": "array", "maxItems": 1}"#, "[1, 2]", false), (#"{"type": "string", "maxLength": 1}"#, #""é""#, true),
            (#"{"type": "object"}"#, #"{"a": 1}"#, false), (#"{"type": "object", "additionalProperties": true}"#, #"{"a": 1}"#, true),
            (#"{"type": "number", "minimum": 0}"#, "-0.1", false),
        ]
    )
    func values(_ schema: String, _ value: String, _ isFine: Bool) throws {
        let schema = try self.schema(schema)
        let value = try JSONParser.parse(Array(value.utf8))
        if isFine {
            try schema.check(value, at: "/x")
        } else {
            #expect(throws: Problem.self) { try schema.check(value, at: "/x") }
        }
    }

    @Test("the shipped types can be read")
    func shipped() throws {
        let types = try AttributesTypes(directory: LiveRoutes.typesDirectory)
        #expect(types.names == ["DeliveryActivityAttributes", "FootballActivityAttributes", "PagerActivityAttributes"])
    }
}
