import PushContract

/// A push token, or the hash of one, in the path of a request.
enum PathToken {
    /// What it may be the hash of: the path does not name the provider.
    static func hashes(_ text: String) -> [TokenHash] {
        if let hash = TokenHash(rawValue: text) { return [hash] }
        return Provider.allCases.compactMap { try? TokenHash.of(text, provider: $0) }
    }

    /// True for what no device id looks like: a hash, 64 hexadecimal digits or more (`POST /devices` refuses such device ids), or the
    /// length of FCM's tokens.
    static func isLikely(_ text: String) -> Bool {
        text.hasPrefix("sha256:") || text.utf8.count >= 100 || (text.utf8.count >= 64 && text.allSatisfy(\.isHexDigit))
    }
}
