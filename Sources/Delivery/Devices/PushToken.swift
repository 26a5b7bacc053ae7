package import PushContract

/// A raw push token. Prints and describes itself as redacted, so that it cannot slip into a log or an error.
package struct PushToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The token as it is hashed: without outer white space, of APNs in lower-case digits alone. For the provider's request and the
    /// database only.
    package let rawValue: String
    /// What may be written down.
    package let hash: TokenHash

    /// Throws when the text cannot be a token of that provider.
    package init(_ text: String, provider: Provider) throws(TokenHash.Failure) {
        (hash, rawValue) = try TokenHash.withCanonical(text, provider: provider)
    }

    /// From the database, where token and hash were stored together.
    package init(stored rawValue: String, hash: TokenHash) {
        self.rawValue = rawValue
        self.hash = hash
    }

    package var description: String { "PushToken(redacted)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
