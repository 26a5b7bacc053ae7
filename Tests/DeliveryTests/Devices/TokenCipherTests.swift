import Delivery
import Foundation
import PushContract
import Testing

@Suite("Encrypted tokens")
struct TokenCipherTests {
    private let token: PushToken

    init() throws { token = try PushToken(RegistryBench.token(1), provider: .apns) }

    @Test("an encrypted token is decrypted with its kind and hash, and with nothing else")
    func bound() throws {
        let cipher = TokenCipher(.random())
        let encrypted = try cipher.encrypt(token, as: .push)
        #expect(encrypted.hasPrefix("encrypted:k1:") && !encrypted.contains(token.rawValue))
        #expect(try cipher.decrypt(encrypted, as: .push, hash: token.hash) == token)
        #expect(throws: TokenCipherError.undecryptable(keyId: "k1")) { try cipher.decrypt(encrypted, as: .pushToStart, hash: token.hash) }
        let other = try PushToken(RegistryBench.token(2), provider: .apns)
        #expect(throws: TokenCipherError.undecryptable(keyId: "k1")) { try cipher.decrypt(encrypted, as: .push, hash: other.hash) }
        #expect(throws: TokenCipherError.undecryptable(keyId: "k1")) {
            try cipher.decrypt(String(encrypted.dropLast(8)), as: .push, hash: token.hash)
        }
        var changed = Array(encrypted.utf8)
        changed[20] = changed[20] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        #expect(throws: TokenCipherError.undecryptable(keyId: "k1")) {
            try cipher.decrypt(String(decoding: changed, as: UTF8.self), as: .push, hash: token.hash)
        }
    }

    @Test("encrypted as bytes, it names its key as well; each byte that is changed is noticed, and bytes of another form are refused")
    func bytes() throws {
        let cipher = TokenCipher(.random())
        let encrypted = try cipher.encryptedBytes(of: token, as: .delivery)
        #expect(encrypted.starts(with: [1, 2] + "k1".utf8))
        #expect(try cipher.decrypt(encrypted, as: .delivery, hash: token.hash) == token)
        #expect(throws: TokenCipherError.undecryptable(keyId: "k1")) { try cipher.decrypt(encrypted, as: .push, hash: token.hash) }
        for index in encrypted.indices {
            var changed = encrypted
            changed[index] ^= 1
            #expect(throws: TokenCipherError.self, "\(index)") { try cipher.decrypt(changed, as: .delivery, hash: token.hash) }
            #expect(throws: TokenCipherError.self, "\(index)") {
                try cipher.decrypt(Array(encrypted[..<index]), as: .delivery, hash: token.hash)
            }
        }
        for other in [[], [1], [1, 0, 7], [1, 200, 7], Array(token.rawValue.utf8)] as [[UInt8]] {
            #expect(throws: TokenCipherError.malformed) { try cipher.decrypt(other, as: .delivery, hash: token.hash) }
        }
    }

    @Test("a key id of the greatest length is read back from the bytes")
    func longestKeyId() throws {
        let id = String(repeating: "k", count: 32)
        let cipher = TokenCipher(.random(id: id))
        let encrypted = try cipher.encryptedBytes(of: token, as: .delivery)
        #expect(encrypted.starts(with: [1, 32] + id.utf8))
        #expect(try cipher.decrypt(encrypted, as: .delivery, hash: token.hash) == token)
        #expect(throws: TokenCipherError.unknownKey(id)) {
            try TokenCipher(.random(id: "k")).decrypt(encrypted, as: .delivery, hash: token.hash)
        }
    }

    @Test(
        "an even number of lower-case hex digits is encrypted as the bytes that it stands for; every token comes back as it was",
        arguments: [
            (String(repeating: "0fa9", count: 16), 33), (String(repeating: "00", count: 32), 33), ("ab", 2),
            (String(repeating: "0FA9", count: 16), 64), (String(repeating: "0", count: 63), 63), ("fXq1:APA91bH-example_TOKEN", 26),
            ("clé", 4),
        ]
    )
    func digits(text: String, count: Int) throws {
        let cipher = TokenCipher(.random())
        let token = PushToken(stored: text, hash: token.hash)
        let bytes = try cipher.encryptedBytes(of: token, as: .delivery)
        // A version, the key's id after its length, nonce and tag.
        #expect(bytes.count == 1 + 1 + 2 + 12 + count + 16)
        #expect(try cipher.decrypt(bytes, as: .delivery, hash: token.hash) == token)
        let stored = try cipher.encrypt(token, as: .push)
        let encoded = try #require(stored.split(separator: ":").last)
        #expect(Data(base64Encoded: String(encoded))?.count == 12 + count + 16)
        #expect(try cipher.decrypt(stored, as: .push, hash: token.hash) == token)
    }

    @Test("what was encrypted as digits is still decrypted")
    func encryptedDigits() throws {
        let digits = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
        let keySet = try TokenKeySet(parsing: "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        let stored =
            "encrypted:k1:AAECAwQFBgcICQoLdzKwePTWo3/rJ6CzhNhKX+Hi5lDCQ2dMAQbWsS9ZOYozI5rNnfUjrEaVTNmw"
            + "txEP1m5Y6G/hlLkGrht9fduT3gU/KAdA0iFgz93coKBMwPM="
        #expect(try TokenCipher(keySet).decrypt(stored, as: .push, hash: TokenHash.apns(digits)).rawValue == digits)
    }

    @Test("no nonce is used twice, whoever asks")
    func nonces() async throws {
        let cipher = TokenCipher(.random())
        let nonces = try await withThrowingTaskGroup(of: [Data].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try (0..<250).map { _ in
                        let text = try cipher.encrypt(token, as: .push)
                        return Data(base64Encoded: String(text.split(separator: ":")[2]))?.prefix(12) ?? Data()
                    }
                }
            }
            return try await group.reduce(into: Set<Data>()) { $0.formUnion($1) }
        }
        #expect(nonces.count == 1000 && nonces.allSatisfy { $0.count == 12 })
    }

    @Test("after a rotation what older keys encrypted can be decrypted; without the older key it cannot, and the error names it")
    func rotation() throws {
        let old = TokenKeySet.random(id: "old")
        let encrypted = try TokenCipher(old).encrypt(token, as: .push)
        let rotated = old.rotated(id: "new")
        #expect(try TokenCipher(rotated).decrypt(encrypted, as: .push, hash: token.hash) == token)
        #expect(try TokenCipher(rotated).encrypt(token, as: .push).hasPrefix("encrypted:new:"))
        #expect(throws: TokenCipherError.unknownKey("old")) {
            try TokenCipher(rotated.without("old")).decrypt(encrypted, as: .push, hash: token.hash)
        }
        #expect(throws: TokenCipherError.undecryptable(keyId: "old")) {
            try TokenCipher(.random(id: "old")).decrypt(encrypted, as: .push, hash: token.hash)
        }
    }

    @Test("a cipher without keys encrypts and decrypts nothing")
    func closed() {
        #expect(throws: TokenCipherError.noKeys) { try TokenCipher.withoutKeys.encrypt(token, as: .push) }
        #expect(throws: TokenCipherError.noKeys) { try TokenCipher.withoutKeys.decrypt("encrypted:k1:AAAA", as: .push, hash: token.hash) }
        #expect(throws: TokenCipherError.noKeys) { try TokenCipher.withoutKeys.encryptedBytes(of: token, as: .delivery) }
        #expect(throws: TokenCipherError.noKeys) { try TokenCipher.withoutKeys.decrypt([1, 1, 0x6B, 0], as: .delivery, hash: token.hash) }
    }

    @Test("an unencrypted token is passed through, so that no instance has to stop for the change")
    func clear() throws {
        #expect(try TokenCipher(.random()).decrypt(token.rawValue, as: .push, hash: token.hash) == token)
    }

    @Test("a key file has ids and keys, comments and blank lines; the first key is current")
    func parses() throws {
        let keySet = try TokenKeySet(parsing: "# new\n\(TokenKeySet.line(id: "k2"))\n\n  \(TokenKeySet.line(id: "k1"))  \n")
        #expect(keySet.current.id == "k2" && keySet.ids == ["k2", "k1"])
    }

    @Test(
        "what is wrong with a key file is said, without its keys",
        arguments: [
            ("", "no key"), ("k1", "line 1 is not"), ("K 1:AAAA", "line 1 is not"), ("# x\nk1:AAAA", "line 2 is not 32 bytes"),
            ("k1:!!!", "not 32 bytes"),
        ]
    )
    func refusals(text: String, says: String) {
        let failure = #expect(throws: TokenKeySet.Failure.self) { try TokenKeySet(parsing: text) }
        #expect(failure?.description.contains(says) == true)
        #expect(failure?.description.contains("AAAA") == false)
    }

    @Test("one id cannot name two keys")
    func twice() {
        let failure = #expect(throws: TokenKeySet.Failure.self) {
            try TokenKeySet(parsing: TokenKeySet.line(id: "k1") + "\n" + TokenKeySet.line(id: "k1"))
        }
        #expect(failure?.description.contains("second time") == true)
    }

    @Test("a key set shows no key, however it is printed")
    func redacted() throws {
        let line = TokenKeySet.line(id: "k1")
        let keySet = try TokenKeySet(parsing: line)
        var dumped = ""
        dump(keySet, to: &dumped)
        for text in ["\(keySet)", String(reflecting: keySet), dumped] {
            #expect(!text.contains(line.dropFirst(3)) && !text.contains("secret"))
        }
    }
}
