import Crypto
import Foundation
import Testing

@testable import Delivery

@Suite struct KeyCipherTests {
    private let key = SymmetricKey(size: .bits256)
    private let nonce = [UInt8](1...12)
    private let data = Array("pushwatch.token.v1".utf8)

    @Test("it encrypts as swift-crypto does, and either decrypts what the other has encrypted", arguments: [0, 1, 15, 16, 17, 33, 4096])
    func otherImplementation(size: Int) throws {
        let message = [UInt8]((0..<size).map { UInt8(truncatingIfNeeded: $0) })
        let cipher = KeyCipher(key)
        let box = try #require(cipher.encrypt(message, nonce: nonce, authenticating: data))
        let other = try AES.GCM.seal(message, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: data)
        #expect(box == other.combined.map { Array($0) })
        #expect(try AES.GCM.open(AES.GCM.SealedBox(combined: box), using: key, authenticating: data) == Data(message))
        #expect(cipher.decrypt(box, authenticating: data) == message)
    }

    @Test("a box of which any byte is changed, other data, another key or too few bytes are not decrypted, and leave the cipher usable")
    func tampering() throws {
        let cipher = KeyCipher(key)
        let message = Array("a token".utf8)
        let box = try #require(cipher.encrypt(message, nonce: nonce, authenticating: data))
        for index in box.indices {
            var changed = box
            changed[index] ^= 1
            #expect(cipher.decrypt(changed, authenticating: data) == nil)
        }
        #expect(cipher.decrypt(box, authenticating: data + [0]) == nil)
        #expect(KeyCipher(SymmetricKey(size: .bits256)).decrypt(box, authenticating: data) == nil)
        for count in 0..<28 { #expect(cipher.decrypt(Array(box.prefix(count)), authenticating: data) == nil) }
        #expect(cipher.decrypt(box, authenticating: data) == message)
    }

    @Test("many tasks use one key at once")
    func concurrency() async {
        let cipher = KeyCipher(key)
        await withTaskGroup(of: Bool.self) { group in
            for task in UInt8(0)..<8 {
                group.addTask { [data] in
                    (UInt8(0)..<200).allSatisfy { number in
                        let nonce = [task, number] + [UInt8](repeating: 7, count: 10)
                        let message = [UInt8](repeating: number, count: 40)
                        guard let box = cipher.encrypt(message, nonce: nonce, authenticating: data) else { return false }
                        return cipher.decrypt(box, authenticating: data) == message
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
