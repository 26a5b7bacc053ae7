import Delivery
import PushContract
import Testing

@Suite("Push tokens")
struct PushTokenTests {
    @Test(
        "what is sent is what was hashed: no line break or space around it, and of APNs none within it",
        arguments: [
            (Provider.fcm, "abC", ["abC", "abC\n", "\r\nabC", " \tabC\u{0B}\u{0C}\r\n"]),
            (.apns, "abcd", ["abcd", "<AB\ncd>", "ab\r\ncd", " ab CD\n"]),
        ]
    )
    func canonical(provider: Provider, token: String, texts: [String]) throws {
        let hash = try TokenHash.of(token, provider: provider)
        for text in texts {
            let read = try PushToken(text, provider: provider)
            #expect(read.rawValue == token && read.hash == hash, "\(text.debugDescription)")
        }
    }
}
