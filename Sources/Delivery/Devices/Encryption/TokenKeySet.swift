import Crypto
import Foundation

/// The keys that raw tokens are encrypted with, read from a file: one `id:base64` a line, 32 bytes each, the current one first.
///
/// Never prints a key.
package struct TokenKeySet: Sendable, CustomStringConvertible, CustomReflectable {
    /// One key, and its name in what it encrypts.
    package struct Key: Sendable {
        /// 1 to 32 of `a`–`z`, `0`–`9`, `-` and `_`.
        package let id: String
        let cipher: KeyCipher

        fileprivate init(_ id: String, _ secret: SymmetricKey) {
            self.id = id
            cipher = KeyCipher(secret)
        }
    }

    /// The key that new tokens are encrypted with.
    package let current: Key
    /// These and the current one can be opened.
    package let others: [Key]

    package var ids: [String] { ([current] + others).map(\.id) }

    package func key(_ id: String) -> Key? { ([current] + others).first { $0.id == id } }

    /// Reads the text of a key file. Blank lines and lines that begin with `#` are skipped.
    package init(parsing text: String) throws(Failure) {
        var keys: [Key] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let key = try TokenKeySet.key(line, number: index + 1)
            guard !keys.contains(where: { $0.id == key.id }) else {
                throw Failure("line \(index + 1) names the key \(key.id) a second time. Give each key an id of its own.")
            }
            keys.append(key)
        }
        guard let first = keys.first else {
            throw Failure("there is no key in it. `pushwatch token-keys create` prints one.")
        }
        current = first
        others = Array(keys.dropFirst())
    }

    /// One new key, for tests and for installations that make their own.
    package static func random(id: String = "k1") -> TokenKeySet {
        TokenKeySet(current: Key(id, SymmetricKey(size: .bits256)), others: [])
    }

    /// A new key before these; what they encrypted can still be decrypted.
    package func rotated(id: String) -> TokenKeySet {
        TokenKeySet(current: Key(id, SymmetricKey(size: .bits256)), others: [current] + others)
    }

    /// Without one of the older keys.
    package func without(_ id: String) -> TokenKeySet { TokenKeySet(current: current, others: others.filter { $0.id != id }) }

    /// A line for a key file, with a key that nobody has yet.
    package static func line(id: String) -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { "\(id):\(Data($0).base64EncodedString())" }
    }

    private init(current: Key, others: [Key]) {
        self.current = current
        self.others = others
    }

    private static func key(_ line: String, number: Int) throws(Failure) -> Key {
        guard let colon = line.firstIndex(of: ":"), isId(line[..<colon]) else {
            throw Failure("line \(number) is not `id:base64`. An id is 1 to 32 of a-z, 0-9, - and _.")
        }
        guard let bytes = Data(base64Encoded: String(line[line.index(after: colon)...])), bytes.count == 32 else {
            throw Failure("the key in line \(number) is not 32 bytes of base64. `pushwatch token-keys create` prints one that is.")
        }
        return Key(String(line[..<colon]), SymmetricKey(data: bytes))
    }

    package static func isId(_ text: some StringProtocol) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x5F }
    }

    package var description: String { "TokenKeySet(\(ids.joined(separator: ", ")))" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// What is wrong with a key file, as the end of a sentence about it. Never holds a key.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package var description: String

        init(_ description: String) { self.description = description }
    }
}
