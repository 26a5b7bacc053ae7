import PushContract
import ServiceKit
import Testing

@testable import Providers

@Suite struct FCMMessageTests {
    @Test("one message holds the parts of all platforms")
    func complete() throws {
        let message = PushMessage(
            title: "T",
            body: "B",
            data: ["kind": .string("match"), "count": .integer(2)],
            fcm: ["android": .object(["ttl": .string("9s")]), "fcm_options": .object(["analytics_label": .string("l")])],
            collapseId: "c1",
            expiresAt: Samples.moment + .seconds(600),
            sound: "default",
            badge: 3
        )
        let expected = """
            {"notification":{"title":"T","body":"B"},"data":{"kind":"match","count":"2"},
             "android":{"priority":"high","ttl":"9s","collapse_key":"c1","notification":{"sound":"default"}},
             "apns":{"headers":{"apns-priority":"10","apns-expiration":"1790000600","apns-collapse-id":"c1"},
                     "payload":{"aps":{"sound":"default","badge":3}}},
             "webpush":{"headers":{"Urgency":"high","TTL":"600","Topic":"c1"}},
             "fcm_options":{"analytics_label":"l"}}
            """
        #expect(FCMMessage.json(message, now: Samples.moment) == (try Samples.json(expected)))
    }

    @Test("the target is the send's, whatever the content says")
    func target() throws {
        let bytes = FCMMessage.bytes(
            PushMessage(fcm: ["token": .string("other")]),
            to: Samples.target(.fcm, token: "mine"),
            now: Samples.moment
        )
        #expect(try JSONParser.read(bytes)["message"]?["token"] == .string("mine"))
    }

    @Test(
        "the time to live is what is left, from nothing to four weeks",
        arguments: [
            (600, 600), (-5, 0), (9_000_000, 2_419_200),
        ] as [(Int64, Int64)]
    )
    func timeToLive(left: Int64, expected: Int64) {
        let message = PushMessage(expiresAt: Samples.moment + .seconds(left))
        #expect(FCMMessage.timeToLive(message, now: Samples.moment) == expected)
        #expect(FCMMessage.timeToLive(PushMessage(), now: Samples.moment) == nil)
    }

    @Test("a background push wakes an iOS app and shows nothing")
    func background() throws {
        let json = FCMMessage.json(PushMessage(data: ["a": .string("b")], pushType: .background), now: Samples.moment)
        #expect(json["notification"] == nil)
        let expected = """
            {"headers":{"apns-priority":"5","apns-push-type":"background"},"payload":{"aps":{"content-available":1}}}
            """
        #expect(json["apns"] == (try Samples.json(expected)))
    }
}
