import Crypto
package import Foundation

/// The signature of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`.
package struct WebhookSignature: Sendable {
    private let key: SymmetricKey

    package init(_ secret: WebhookSecret) { key = SymmetricKey(data: secret.key) }

    /// `v1,` and the code in base64.
    package func header(id: String, timestamp: Int64, body: Data) -> String {
        let signed = Data("\(id).\(timestamp).".utf8) + body
        return "v1," + Data(HMAC<SHA256>.authenticationCode(for: signed, using: key)).base64EncodedString()
    }
}
