import Crypto

/// The only form in which a push token may be stored or logged: `sha256:` and 64 lower-case hex digits.
///
/// The prefix distinguishes a hash from a raw token, since an APNs token may also be 64 hex digits.
public struct TokenHash: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    /// `sha256:…`
    public let rawValue: String

    /// Nil for anything but the contract's exact form.
    public init?(rawValue: String) {
        guard TokenHash.isWellFormed(rawValue.utf8) else { return nil }
        self.rawValue = rawValue
    }

    /// The 64 hex digits without the prefix, as `AttemptID` uses them.
    public var hexDigits: Substring { rawValue[rawValue.utf8.index(rawValue.startIndex, offsetBy: TokenHash.prefix.utf8.count)...] }

    /// The hash itself, which is not a secret.
    public var description: String { rawValue }

    /// Why a token cannot be hashed.
    public enum Failure: Error, Equatable, Sendable {
        case empty
        case tooLong
        case notHexadecimal
        case oddLength
    }

    /// Hash of an APNs token: white space and `<>` stripped, hex digits lower-cased.
    public static func apns(_ token: String) throws(Failure) -> TokenHash {
        let canonical = apnsBytes(token)
        guard !canonical.isEmpty else { throw .empty }
        guard canonical.count <= 4096 else { throw .tooLong }
        guard canonical.allSatisfy(isLowerHex) else { throw .notHexadecimal }
        guard canonical.count.isMultiple(of: 2) else { throw .oddLength }
        return TokenHash(hashing: canonical)
    }

    /// Hash of an FCM token: outer white space trimmed, case kept.
    public static func fcm(_ token: String) throws(Failure) -> TokenHash {
        let canonical = fcmBytes(token)
        guard !canonical.isEmpty else { throw .empty }
        guard canonical.count <= 4096 else { throw .tooLong }
        return TokenHash(hashing: canonical)
    }

    /// Hash of a token as its provider canonicalises it.
    public static func of(_ token: String, provider: Provider) throws(Failure) -> TokenHash {
        switch provider.tokenForm {
        case .hexadecimal: try apns(token)
        case .text: try fcm(token)
        }
    }

    /// What is hashed, as text: what a provider is sent.
    package static func canonical(_ token: String, provider: Provider) -> String {
        switch provider.tokenForm {
        case .hexadecimal: String(decoding: apnsBytes(token), as: UTF8.self)
        case .text: String(decoding: fcmBytes(token), as: UTF8.self)
        }
    }

    private static func apnsBytes(_ token: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(token.utf8.count)
        for byte in token.utf8 where !isSpace(byte) && byte != 0x3C && byte != 0x3E { bytes.append(lowered(byte)) }
        return bytes
    }

    private static func fcmBytes(_ token: String) -> [UInt8] {
        let bytes = Array(token.utf8)
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) }) else { return [] }
        return Array(bytes[first...last])
    }

    static let prefix = "sha256:"

    static func isWellFormed(_ text: String.UTF8View) -> Bool {
        // Contiguous nearly always; a copy otherwise.
        text.withContiguousStorageIfAvailable(isWellFormed) ?? Array(text).withUnsafeBufferPointer(isWellFormed)
    }

    /// Over plain bytes: the form the ingestion path uses. Generic code would not be specialised across modules, and was measured to take
    /// more time than everything else that the server does with an attempt.
    package static func isWellFormed(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == 71 else { return false }
        var index = 0
        for byte in prefix.utf8 {
            guard text[index] == byte else { return false }
            index += 1
        }
        while index < text.count {
            guard isLowerHex(text[index]) else { return false }
            index += 1
        }
        return true
    }

    private init(hashing canonical: [UInt8]) {
        rawValue = TokenHash.prefix + SHA256.hash(data: canonical).hexDigits
    }
}

private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
private func lowered(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
private func isLowerHex(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }

extension Sequence<UInt8> {
    /// Lower-case hex digits, two a byte.
    package var hexDigits: String {
        let table = Array("0123456789abcdef".utf8)
        var digits: [UInt8] = []
        digits.reserveCapacity(64)
        for byte in self {
            digits.append(table[Int(byte >> 4)])
            digits.append(table[Int(byte & 15)])
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
