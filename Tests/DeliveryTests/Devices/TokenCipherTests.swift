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
