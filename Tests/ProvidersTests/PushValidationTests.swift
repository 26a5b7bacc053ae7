import PushContract
import ServiceKit
import Testing

@testable import Providers

@Suite struct PushValidationTests {
    /// A message, the provider, and the field and code of its fault; nil when it is fine.
    struct Row: Sendable, CustomTestStringConvertible {
        var provider = Provider.apns
        var app = Samples.bundle
        var message: PushMessage
        var fault: String?
        var testDescription: String { "\(provider.rawValue) \(message.pushType.rawValue) \(fault ?? "is fine")" }
    }

    private static func activity(_ aps: JSONMembers) -> PushMessage {
        PushMessage(apns: ["aps": .object(aps)], pushType: .liveactivity)
    }

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    static let rows = [
        Row(message: PushMessage(title: "T")),
        Row(message: PushMessage(badge: 0)),
        Row(message: PushMessage(data: ["a": .string("b")]), fault: "body InvalidPushType"),
        Row(message: PushMessage(data: ["a": .string("b")], pushType: .background)),
        Row(message: PushMessage(body: "x", pushType: .background), fault: "title InvalidPushType"),
        Row(message: PushMessage(pushType: .background, sound: "s"), fault: "sound InvalidPushType"),
        Row(message: PushMessage(body: "x", data: ["aps": .null]), fault: "data/aps PayloadEmpty"),
        Row(message: PushMessage(body: "x", apns: ["aps": .string("no")]), fault: "apns/aps PayloadEmpty"),
        Row(message: PushMessage(body: "x", collapseId: text(64))),
        Row(message: PushMessage(body: "x", collapseId: text(65)), fault: "collapseId BadCollapseId"),
        Row(message: PushMessage(body: "x", collapseId: ""), fault: "collapseId BadCollapseId"),
        Row(message: PushMessage(body: "x", collapseId: " a"), fault: "collapseId BadCollapseId"),
        Row(message: PushMessage(body: "x", collapseId: "a "), fault: "collapseId BadCollapseId"),
        Row(message: PushMessage(body: "x", collapseId: "a\r\nb"), fault: "collapseId BadCollapseId"),
        Row(message: PushMessage(body: text(4000))),
        Row(message: PushMessage(body: text(4096)), fault: " PayloadTooLarge"),
        Row(message: PushMessage(body: text(4096), pushType: .voip)),
        Row(message: PushMessage(body: text(5120), pushType: .voip), fault: " PayloadTooLarge"),
        Row(app: "no spaces", message: PushMessage(body: "x"), fault: "app BadTopic"),
        Row(app: "", message: PushMessage(body: "x", pushType: .voip), fault: "app BadTopic"),
        Row(message: PushMessage(body: "x", pushType: .voip, topic: "org.other"), fault: "topic BadTopic"),
        Row(message: PushMessage(body: "x", pushType: .voip, topic: "org.other.voip")),
        Row(message: activity([:]), fault: "apns/aps/event InvalidPushType"),
        Row(message: activity(["event": .string("update"), "timestamp": .integer(1)]), fault: "apns/aps/content-state InvalidPushType"),
        Row(message: activity(["event": .string("update"), "timestamp": .integer(1), "content-state": .object([:])])),
        Row(message: activity(["event": .string("end")]), fault: "apns/aps/timestamp InvalidPushType"),
        Row(
            message: activity([
                "event": .string("start"), "timestamp": .integer(1), "content-state": .object([:]), "attributes-type": .string("A"),
                "attributes": .object([:]),
            ]),
            fault: "apns/aps/alert InvalidPushType"
        ),
        Row(provider: .fcm, message: PushMessage(data: ["a": .integer(1)])),
        Row(provider: .fcm, message: PushMessage(body: text(4097)), fault: " INVALID_ARGUMENT"),
        Row(provider: .fcm, message: PushMessage(body: "x", collapseId: text(65)), fault: "collapseId INVALID_ARGUMENT"),
        Row(provider: .fcm, message: PushMessage(data: ["google.x": .string("")]), fault: "data/google.x INVALID_ARGUMENT"),
        Row(provider: .fcm, message: PushMessage(data: ["from": .string("")]), fault: "data/from INVALID_ARGUMENT"),
        Row(provider: .fcm, message: PushMessage(fcm: ["topic": .string("news")]), fault: "fcm/topic INVALID_ARGUMENT"),
        Row(provider: .fcm, message: PushMessage(fcm: ["android": .string("x")]), fault: "fcm/android INVALID_ARGUMENT"),
        Row(
            provider: .fcm,
            message: PushMessage(fcm: ["data": .object(["n": .integer(1)])]),
            fault: "fcm/data/n INVALID_ARGUMENT"
        ),
        Row(provider: .fcm, message: PushMessage(pushType: .voip), fault: "pushType INVALID_ARGUMENT"),
        Row(provider: .fcm, message: PushMessage(title: "T", pushType: .background), fault: "title INVALID_ARGUMENT"),
        Row(provider: .fcm, message: PushMessage(pushType: .liveactivity), fault: "fcm/apns/live_activity_token INVALID_ARGUMENT"),
    ]

    @Test("what a provider would refuse is refused with its field", arguments: rows)
    func check(row: Row) {
        var found: PushError?
        do throws(PushError) {
            try PushValidation.validate(row.message, for: row.provider, app: row.app)
        } catch {
            found = error
        }
        #expect(found.map { "\($0.field) \($0.code)" } == row.fault)
        #expect(found?.message.hasSuffix(".") ?? true)
    }
}
