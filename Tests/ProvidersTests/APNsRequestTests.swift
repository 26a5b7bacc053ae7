import PushContract
import ServiceKit
import Testing

@testable import Providers

@Suite struct APNsRequestTests {
    private func headers(_ message: PushMessage) -> [String: String] {
        let list = APNsRequest.headers(message, app: Samples.bundle, attemptId: "attempt-1")
        return Dictionary(list.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first + " twice" })
    }

    @Test(
        "topic, type and priority follow the push type",
        arguments: [
            (.alert, .high, "", "10"), (.alert, .normal, "", "5"), (.alert, .low, "", "1"), (.background, .high, "", "5"),
            (.liveactivity, .high, ".push-type.liveactivity", "10"), (.voip, .high, ".voip", "10"),
            (.complication, .normal, ".complication", "5"), (.fileprovider, .normal, ".pushkit.fileprovider", "5"),
            (.location, .normal, ".location-query", "5"), (.pushtotalk, .high, ".voip-ptt", "10"),
            (.widgets, .normal, ".push-type.widgets", "5"), (.controls, .normal, ".push-type.controls", "5"),
        ] as [(APNsPushType, PushPriority, String, String)]
    )
    func byType(type: APNsPushType, priority: PushPriority, suffix: String, value: String) {
        let headers = headers(PushMessage(pushType: type, priority: priority))
        #expect(headers["apns-topic"] == Samples.bundle + suffix)
        #expect(headers["apns-push-type"] == type.rawValue)
        #expect(headers["apns-priority"] == value)
    }

    @Test("expiry, collapse id and an own topic are passed on when given, and left out when not")
    func optional() {
        let plain = headers(PushMessage(body: "x"))
        #expect(plain["apns-expiration"] == nil && plain["apns-collapse-id"] == nil)
        let full = headers(PushMessage(body: "x", collapseId: "c", expiresAt: Timestamp(seconds: 1_800_000_000), topic: "org.other"))
        #expect(full["apns-expiration"] == "1800000000")
        #expect(full["apns-collapse-id"] == "c")
        #expect(full["apns-topic"] == "org.other")
    }

    @Test("the apns-id is a lower-case UUID, the same for the same attempt only")
    func messageId() {
        let id = APNsMessageId.derive(from: "attempt-1")
        #expect(id == APNsMessageId.derive(from: "attempt-1"))
        #expect(id != APNsMessageId.derive(from: "attempt-2"))
        #expect(id.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
        #expect(id == id.lowercased())
        #expect(Array(id)[14] == "8")
    }

    @Test("only hexadecimal tokens reach the path", arguments: ["", "zz", "ab/../x", "ab cd", "ab?x"])
    func path(token: String) {
        #expect(APNsRequest.path(token) == nil)
        #expect(APNsRequest.path("0aF9") == "/3/device/0aF9")
    }

    @Test("data is next to aps, and the apns members override both")
    func payload() throws {
        let message = PushMessage(
            title: "T",
            body: "B",
            data: ["kind": .string("match"), "count": .integer(2)],
            apns: ["aps": .object(["alert": .object(["subtitle": .string("S")]), "badge": .integer(9)]), "x": .bool(true)],
            sound: "default",
            badge: 1
        )
        let expected = """
            {"aps":{"alert":{"title":"T","body":"B","subtitle":"S"},"sound":"default","badge":9},"kind":"match","count":2,"x":true}
            """
        #expect(APNsPayload.json(message) == (try Samples.json(expected)))
    }

    @Test(
        "background and widget pushes get the member their type needs",
        arguments: [
            (.background, #"{"aps":{"content-available":1},"a":"b"}"#), (.widgets, #"{"aps":{"content-changed":true},"a":"b"}"#),
        ] as [(APNsPushType, String)]
    )
    func typeMembers(type: APNsPushType, expected: String) throws {
        #expect(APNsPayload.json(PushMessage(data: ["a": .string("b")], pushType: type)) == (try Samples.json(expected)))
    }
}
