import PushContract
import Testing

@Suite("Attempt identities")
struct AttemptIDTests {
    private let apns = TokenHash(rawValue: TokenHashTests.apnsHash)!
    private let fcm = TokenHash(rawValue: TokenHashTests.fcmHash)!

    @Test("attempt ids equal the worked values of the contract")
    func worked() {
        #expect(
            id(.register, "uid-1", .ios, .apns, apns, "op-7b1e", 1) == "727fed545cd03ca82c8e05b7dabba3b7ef7178fe6949f406ab8464d47f52c3de"
        )
        #expect(
            id(.register, "uid-1", .ios, .apns, apns, "op-7b1e", 2) == "86c4992acefd91e594bbb81071a30f15c139e6dd8e4acc1b6dee8561ed559618"
        )
        #expect(
            id(.send, "uid-1", .ios, .apns, apns, "match:1304076:seq:118:device:D1", 1)
                == "798b64aaa0c003d9b861ed0a26fdbf5d122487dde450c60602fac5a07821b3a3"
        )
        #expect(
            id(.unregister, "uid-1", .android, .fcm, fcm, "op-9c20", 1)
                == "bb2a77b12543bae60224cff866c06644b64266cac9089dad0ee70371940234b9"
        )
    }

    @Test("a control character in any part has no identity", arguments: ["a\nb", "a\u{0}", "a\u{7F}", "a\u{80}", "\u{9F}"])
    func controlCharacters(text: String) {
        #expect(id(.send, text, .ios, .apns, apns, "k", 1) == nil)
        #expect(id(.send, "u", .ios, .apns, apns, text, 1) == nil)
    }

    private func id(
        _ event: EventType,
        _ uid: String,
        _ platform: Platform,
        _ provider: Provider,
        _ hash: TokenHash,
        _ key: String,
        _ number: Int
    ) -> String? {
        AttemptID.derive(
            eventType: event,
            uid: uid,
            platform: platform,
            provider: provider,
            tokenHash: hash,
            operationKey: key,
            attemptNumber: number
        )
    }
}
