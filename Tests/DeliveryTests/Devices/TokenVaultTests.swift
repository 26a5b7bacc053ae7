import Delivery
import PushContract
import Testing

@Suite("Sealed tokens")
struct TokenVaultTests {
    private let token: PushToken

    init() throws { token = try PushToken(RegistryBench.token(1), provider: .apns) }

    @Test("a sealed token opens with its kind and hash, and with nothing else")
    func bound() throws {
        let vault = TokenVault(.random())
        let sealed = try vault.seal(token, as: .push)
        #expect(sealed.hasPrefix("sealed:k1:") && !sealed.contains(token.rawValue))
        #expect(try vault.open(sealed, as: .push, hash: token.hash) == token)
        #expect(throws: TokenVaultError.damaged(keyId: "k1")) { try vault.open(sealed, as: .pushToStart, hash: token.hash) }
        let other = try PushToken(RegistryBench.token(2), provider: .apns)
        #expect(throws: TokenVaultError.damaged(keyId: "k1")) { try vault.open(sealed, as: .push, hash: other.hash) }
        #expect(throws: TokenVaultError.damaged(keyId: "k1")) { try vault.open(String(sealed.dropLast(8)), as: .push, hash: token.hash) }
    }

    @Test("the same token is never sealed to the same text")
    func nonces() throws {
        let vault = TokenVault(.random())
        #expect(try vault.seal(token, as: .push) != vault.seal(token, as: .push))
    }

    @Test("after a rotation what older keys sealed opens; without the older key it does not, and the error names it")
    func rotation() throws {
        let old = TokenKeyRing.random(id: "old")
        let sealed = try TokenVault(old).seal(token, as: .push)
        let rotated = old.rotated(id: "new")
        #expect(try TokenVault(rotated).open(sealed, as: .push, hash: token.hash) == token)
        #expect(try TokenVault(rotated).seal(token, as: .push).hasPrefix("sealed:new:"))
        #expect(throws: TokenVaultError.unknownKey("old")) {
            try TokenVault(rotated.without("old")).open(sealed, as: .push, hash: token.hash)
        }
        #expect(throws: TokenVaultError.damaged(keyId: "old")) {
            try TokenVault(.random(id: "old")).open(sealed, as: .push, hash: token.hash)
        }
    }

    @Test("a vault without keys seals and opens nothing")
    func closed() {
        #expect(throws: TokenVaultError.noKeys) { try TokenVault.closed.seal(token, as: .push) }
        #expect(throws: TokenVaultError.noKeys) { try TokenVault.closed.open("sealed:k1:AAAA", as: .push, hash: token.hash) }
    }

    @Test("a token from before sealing is passed on, so that nobody has to stop for the change")
    func clear() throws {
        #expect(try TokenVault(.random()).open(token.rawValue, as: .push, hash: token.hash) == token)
    }

    @Test("a key file has ids and keys, comments and blank lines; the first key is current")
    func parses() throws {
        let ring = try TokenKeyRing(parsing: "# new\n\(TokenKeyRing.line(id: "k2"))\n\n  \(TokenKeyRing.line(id: "k1"))  \n")
        #expect(ring.current.id == "k2" && ring.ids == ["k2", "k1"])
    }

    @Test(
        "what is wrong with a key file is said, without its keys",
        arguments: [
            ("", "no key"), ("k1", "line 1 is not"), ("K 1:AAAA", "line 1 is not"), ("# x\nk1:AAAA", "line 2 is not 32 bytes"),
            ("k1:!!!", "not 32 bytes"),
        ]
    )
    func refusals(text: String, says: String) {
        let failure = #expect(throws: TokenKeyRing.Failure.self) { try TokenKeyRing(parsing: text) }
        #expect(failure?.description.contains(says) == true)
        #expect(failure?.description.contains("AAAA") == false)
    }

    @Test("one id cannot name two keys")
    func twice() {
        let failure = #expect(throws: TokenKeyRing.Failure.self) {
            try TokenKeyRing(parsing: TokenKeyRing.line(id: "k1") + "\n" + TokenKeyRing.line(id: "k1"))
        }
        #expect(failure?.description.contains("second time") == true)
    }

    @Test("a key ring shows no key, however it is printed")
    func redacted() throws {
        let line = TokenKeyRing.line(id: "k1")
        let ring = try TokenKeyRing(parsing: line)
        var dumped = ""
        dump(ring, to: &dumped)
        for text in ["\(ring)", String(reflecting: ring), dumped] { #expect(!text.contains(line.dropFirst(3)) && !text.contains("secret")) }
    }
}
