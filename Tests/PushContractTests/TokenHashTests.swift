import PushContract
import Testing

@Suite("Token hashes")
struct TokenHashTests {
    static let apnsToken = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
    static let apnsHash = "sha256:09ff825c4a48d460b41c8bc6cded15e1b21724a38ee2cdf37cf5caf46bda1bad"
    static let fcmToken = "fXq1:APA91bH-example_TOKEN-CaseSensitive0123456789"
    static let fcmHash = "sha256:0611fa5557fa98cb1ba920c9101040f8fab4dc41f38d90920d7e59647e77443d"

    @Test(
        "an APNs token is hashed in one spelling: lower case, without spaces and angle brackets",
        arguments: [apnsToken, apnsToken.uppercased(), "<00fc13ad ff785122 b4ad2880 9a342098 23412414 21348097 878e577c 991de8f0>\n"]
    )
    func apns(token: String) throws {
        #expect(try TokenHash.apns(token).rawValue == Self.apnsHash)
    }

    @Test("an FCM token keeps its case; only outer white space goes", arguments: [fcmToken, "  \(fcmToken)\n"])
    func fcm(token: String) throws {
        #expect(try TokenHash.fcm(token).rawValue == Self.fcmHash)
        #expect(try TokenHash.fcm(token.lowercased()).rawValue != Self.fcmHash)
    }

    @Test(
        "what is no token is refused",
        arguments: [
            ("", TokenHash.Failure.empty), ("abc", .oddLength), ("simulator-1", .notHexadecimal),
            (String(repeating: "a", count: 4098), .tooLong),
        ]
    )
    func refused(token: String, failure: TokenHash.Failure) {
        #expect(throws: failure) { try TokenHash.apns(token) }
    }

    @Test("the bytes of a hash are those of its digits; only an even number of lower-case digits stands for bytes")
    func bytes() throws {
        let hash = try TokenHash.apns(Self.apnsToken)
        #expect(hash.bytes.count == 32 && hash.bytes.prefix(3) == [0x09, 0xFF, 0x82])
        #expect("sha256:" + hash.bytes.hexDigits == Self.apnsHash)
        #expect([UInt8](hexDigits: "00af9") == nil && [UInt8](hexDigits: "00AF") == nil && [UInt8](hexDigits: "0g") == nil)
        #expect([UInt8](hexDigits: "00af90") == [0, 0xAF, 0x90])
    }

    @Test(
        "only the prefixed, lower-case form is a hash",
        arguments: [apnsToken, "sha256:" + apnsToken.uppercased(), "sha256:abc", "SHA256:" + apnsToken, "sha256:" + apnsToken + "0", ""]
    )
    func malformed(text: String) {
        #expect(TokenHash(rawValue: text) == nil)
    }
}
