import Foundation

/// The key of a webhook's signatures, as Standard Webhooks writes it: `whsec_` and 24 to 64 bytes in base64; the prefix may be missing.
package struct WebhookSecret: Sendable, Hashable {
    package struct Invalid: Error, CustomStringConvertible {
        package var description: String {
            "a webhook secret is whsec_ followed by 24 to 64 bytes in base64: echo \"whsec_$(openssl rand -base64 24)\""
        }
    }

    /// As written, to keep it out of what is stored and logged.
    package let text: String
    let key: Data

    package init(_ text: String) throws(Invalid) {
        let encoded = text.hasPrefix("whsec_") ? String(text.dropFirst(6)) : text
        guard let key = Data(base64Encoded: encoded), (24...64).contains(key.count) else { throw Invalid() }
        self.text = text
        self.key = key
    }
}
