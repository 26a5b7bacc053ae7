import PushContract
import ServiceKit
import Testing

@testable import ProviderSimulator

/// A `message` and the error Google has for it; nil: it is fine.
struct FCMCase: Sendable, CustomTestStringConvertible {
    var what: String
    var message: JSONValue
    var errorCode: String?
    var fields: [String] = []
    var refused = true

    var testDescription: String { what }

    static func fine(_ what: String, _ message: JSONValue) -> FCMCase {
        FCMCase(what: what, message: message, refused: false)
    }
}

@Suite("Checks on FCM requests")
struct FCMRequestChecksTests {
    static let holder = AccessTokens.Grant(clientEmail: "a@b", projectId: "shop", expires: noon)

    static let messages: [FCMCase] = [
        .fine("a notification", ["token": .string(fcmToken), "notification": ["title": "t", "body": "b"]]),
        .fine("an installation id", ["fid": "dGhpcy1pcy1hbi1maWQ-x1", "data": ["a": "1"]]),
        .fine("a topic", ["topic": "news", "data": ["a": "1"]]),
        .fine(
            "a Live Activity",
            ["token": .string(fcmToken), "apns": ["live_activity_token": "ab", "payload": ["aps": ["event": "update"]]]]
        ),
        .fine("android options", ["token": .string(fcmToken), "android": ["priority": "high", "ttl": "3600s", "collapse_key": "c"]]),
        .init(what: "no target", message: ["data": ["a": "1"]], errorCode: "INVALID_ARGUMENT", fields: ["message"]),
        .init(what: "two targets", message: ["token": .string(fcmToken), "topic": "news"], fields: ["message"]),
        .init(what: "a target that is no string", message: ["token": 1], fields: ["message.token"]),
        .init(what: "a bad token", message: ["token": "nonsense!"], errorCode: "INVALID_ARGUMENT", fields: ["message.token"]),
        .init(what: "a bad topic", message: ["topic": "a b"], errorCode: "INVALID_ARGUMENT", fields: ["message.topic"]),
        .init(what: "an unknown name", message: ["token": .string(fcmToken), "titel": "x"], fields: ["message"]),
        .init(
            what: "an unknown name in the notification",
            message: ["token": .string(fcmToken), "notification": ["sound": "x"]],
            fields: ["message.notification"]
        ),
        .init(
            what: "data that is no string",
            message: ["token": .string(fcmToken), "data": ["a": "1", "b": 2]],
            fields: ["message.data[1].value"]
        ),
        .init(
            what: "a reserved data key",
            message: ["token": .string(fcmToken), "data": ["google.x": "1"]],
            errorCode: "INVALID_ARGUMENT",
            fields: ["message.data"]
        ),
        .init(
            what: "a TTL past four weeks",
            message: ["token": .string(fcmToken), "android": ["ttl": "2419201s"]],
            errorCode: "INVALID_ARGUMENT",
            fields: ["message.android.ttl"]
        ),
        .init(
            what: "a TTL without unit",
            message: ["token": .string(fcmToken), "android": ["ttl": "60"]],
            fields: ["message.android.ttl"]
        ),
        .init(
            what: "a priority of APNs",
            message: ["token": .string(fcmToken), "android": ["priority": "10"]],
            fields: ["message.android.priority"]
        ),
        .init(
            what: "an APNs header that is no string",
            message: ["token": .string(fcmToken), "apns": ["headers": ["apns-priority": 5]]],
            fields: ["message.apns.headers[0].value"]
        ),
        .fine("4096 bytes", ["token": .string(fcmToken), "data": ["k": filled(4095)]]),
        .init(what: "4097 bytes", message: ["token": .string(fcmToken), "data": ["k": filled(4096)]]),
        .init(what: "2049 bytes to a topic", message: ["topic": "news", "data": ["k": filled(2048)]]),
    ]

    @Test("each rule has its error", arguments: messages)
    func rule(_ given: FCMCase) {
        let found = error(of: ["message": given.message])
        #expect((found != nil) == given.refused)
        #expect(found?.errorCode == given.errorCode)
        #expect(found?.violations.map(\.field) ?? [] == given.fields)
        if let found { #expect(found.status == 400) }
    }

    @Test(
        "the request around the message is checked",
        arguments: [
            (["message": ["token": "0123456789abcdef"], "validate_only": true], nil),
            (["message": ["token": "0123456789abcdef"], "validateOnly": false], nil),
            (["message": ["token": "0123456789abcdef"], "validate_only": "yes"], "validate_only"),
            (["message": ["token": "0123456789abcdef"], "dry_run": true], ""),
            ([:], "message"),
            ([1], ""),
        ] as [(JSONValue, String?)]
    )
    func envelope(body: JSONValue, field: String?) {
        #expect(error(of: body)?.violations.first?.field == field)
    }

    @Test("an unauthorized request is refused without FcmError")
    func authorization() throws {
        let nobody = error(of: ["message": ["topic": "news"]], holder: nil)
        #expect(nobody?.status == 401)
        #expect(nobody?.errorCode == nil)
        let elsewhere = error(of: ["message": ["topic": "news"]], project: "other")
        #expect(elsewhere?.status == 403)
        #expect(elsewhere?.name == "PERMISSION_DENIED")
        #expect(elsewhere?.errorCode == nil)
    }

    @Test(
        "the project is read from the path",
        arguments: [
            ("POST", "/v1/projects/shop/messages:send", "shop"), ("GET", "/v1/projects/shop/messages:send", nil),
            ("POST", "/v1/projects//messages:send", nil), ("POST", "/v1/projects/shop/messages", nil), ("POST", "/fcm/send", nil),
        ]
    )
    func path(method: String, path: String, project: String?) {
        #expect(FCMRequestChecks.project(of: SimulatedRequest(method: method, path: path)) == project)
    }

    @Test("a dead token is UNREGISTERED, a token of another project a mismatch")
    func script() {
        let send = FCMSend(project: "shop", target: .token(fcmToken), validateOnly: false)
        #expect(throws: FCMError.unregistered) { try FCMRequestChecks.checkToken(of: send, script: ScriptedToken(dead: true)) }
        #expect(throws: FCMError.senderIdMismatch) { try FCMRequestChecks.checkToken(of: send, script: ScriptedToken(project: "b")) }
        #expect(throws: Never.self) { try FCMRequestChecks.checkToken(of: send, script: ScriptedToken(project: "shop")) }
    }

    @Test("errors have Google's shape")
    func shape() throws {
        let answer = FCMResponses.refused(.scripted(FaultResponse(status: 429, reason: "QUOTA_EXCEEDED")))
        let error = try #require(JSONValue(bytes: answer.body)?["error"])
        #expect(answer.status == 429)
        #expect(error["code"] == 429)
        #expect(error["status"] == "RESOURCE_EXHAUSTED")
        #expect(error["details"]?.elements?.first?["errorCode"] == "QUOTA_EXCEEDED")
        #expect(error["details"]?.elements?.last?["@type"] == "type.googleapis.com/google.rpc.QuotaFailure")
        let bare = FCMResponses.refused(.scripted(FaultResponse(status: 404)))
        #expect(JSONValue(bytes: bare.body)?["error"]?["status"] == "NOT_FOUND")
        #expect(JSONValue(bytes: bare.body)?["error"]?["details"] == nil)
    }

    private func error(of body: JSONValue, project: String = "shop", holder: AccessTokens.Grant? = holder) -> FCMError? {
        let request = SimulatedRequest(path: "/v1/projects/\(project)/messages:send", body: body.bytes)
        do throws(FCMError) {
            _ = try FCMRequestChecks.check(request, project: project, holder: holder)
            return nil
        } catch {
            return error
        }
    }

    private static func filled(_ bytes: Int) -> JSONValue {
        .string(String(repeating: "x", count: bytes))
    }
}
