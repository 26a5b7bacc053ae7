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

    /// The 32 bytes of the hash.
    package var bytes: [UInt8] { withHexDigits(bytesOfLowerHex) }

    /// The 64 hex digits in place: a substring is read a byte at a time.
    func withHexDigits<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var text = rawValue
        return text.withUTF8 { body(UnsafeBufferPointer(rebasing: $0.dropFirst(TokenHash.prefix.utf8.count))) }
    }

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
        TokenHash(hashing: try apnsBytes(token))
    }

    /// Hash of an FCM token: outer white space trimmed, case kept.
    public static func fcm(_ token: String) throws(Failure) -> TokenHash {
        TokenHash(hashing: try fcmBytes(token))
    }

    /// Hash of a token as its provider canonicalises it.
    public static func of(_ token: String, provider: Provider) throws(Failure) -> TokenHash {
        switch provider.tokenForm {
        case .hexadecimal: try apns(token)
        case .text: try fcm(token)
        }
    }

    /// The hash, and what is hashed, as text: what a provider is sent.
    package static func withCanonical(_ token: String, provider: Provider) throws(Failure) -> (hash: TokenHash, canonical: String) {
        let bytes =
            switch provider.tokenForm {
            case .hexadecimal: try apnsBytes(token)
            case .text: try fcmBytes(token)
            }
        return (TokenHash(hashing: bytes), String(decoding: bytes, as: UTF8.self))
    }

    private static func apnsBytes(_ token: String) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(token.utf8.count)
        for byte in token.utf8 where !isSpace(byte) && byte != 0x3C && byte != 0x3E { bytes.append(lowered(byte)) }
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= 4096 else { throw .tooLong }
        guard bytes.allSatisfy(isLowerHex) else { throw .notHexadecimal }
        guard bytes.count.isMultiple(of: 2) else { throw .oddLength }
        return bytes
    }

    private static func fcmBytes(_ token: String) throws(Failure) -> [UInt8] {
        let bytes = Array(token.utf8)
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { throw .empty }
        guard last - first < 4096 else { throw .tooLong }
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
        rawValue = hexText(of: SHA256.hash(data: canonical), count: SHA256.byteCount, after: TokenHash.prefix)
    }
}

private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
private func lowered(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
private func isLowerHex(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }

extension [UInt8] {
    /// What an even number of lower-case hex digits stands for; nil for any other text.
    package init?(hexDigits text: String) {
        var text = text
        let bytes = text.withUTF8 { digits in
            digits.count.isMultiple(of: 2) && digits.allSatisfy(isLowerHex) ? bytesOfLowerHex(digits) : nil
        }
        guard let bytes else { return nil }
        self = bytes
    }
}

extension Sequence<UInt8> {
    /// Lower-case hex digits, two a byte.
    package var hexDigits: String {
        let bytes = Array(self)
        return hexText(of: bytes, count: bytes.count)
    }
}

extension Digest {
    /// The same, without an array of its bytes.
    package var hexDigits: String { hexText(of: self, count: Self.byteCount) }
}

private func hexText(of bytes: some Sequence<UInt8>, count: Int, after prefix: String = "") -> String {
    String(unsafeUninitializedCapacity: prefix.utf8.count + 2 * count) { text in
        var end = 0
        func append(_ byte: UInt8) {
            text[end] = byte
            end += 1
        }
        for byte in prefix.utf8 { append(byte) }
        for byte in bytes {
            append(hexDigit(byte >> 4))
            append(hexDigit(byte & 15))
        }
        return end
    }
}

private func bytesOfLowerHex(_ digits: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: digits.count / 2) { bytes, count in
        count = digits.count / 2
        for index in 0..<count { bytes[index] = hexValue(digits[2 * index]) << 4 | hexValue(digits[2 * index + 1]) }
    }
}

private func hexValue(_ digit: UInt8) -> UInt8 { digit < 0x3A ? digit - 0x30 : digit - 0x57 }

func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
