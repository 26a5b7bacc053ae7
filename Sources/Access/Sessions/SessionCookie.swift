package import PushContract

/// The cookie of somebody signed in to the on-call page: which key they signed in with, until when, signed.
///
/// It has no rights of its own: what the session may do is looked up by the key, so revoking the key ends the session.
package struct SessionCookie: Sendable {
    package static let name = "pushwatch_session"
    package static let lifetime = Duration.seconds(12 * 3_600)
    private static let purpose = "session"

    private let signature: Signature
    private let isSecure: Bool

    /// - Parameters:
    ///   - secret: shared by all servers: `ServerSecretStore.secret(named: "session")`, or from the configuration.
    ///   - isSecure: true where the page is reached over HTTPS; browsers then never send the cookie without it.
    package init(secret: [UInt8], isSecure: Bool) {
        signature = Signature(secret: secret)
        self.isSecure = isSecure
    }

    /// The `Set-Cookie` that signs in.
    package func setCookie(keyId: String, now: Timestamp) -> String {
        let expires = (now + Self.lifetime).seconds
        return header(signature.sign("\(keyId).\(expires)", purpose: Self.purpose), maxAge: Self.lifetime.components.seconds)
    }

    /// The `Set-Cookie` that signs out.
    package func clearCookie() -> String { header("", maxAge: 0) }

    /// The id of the key behind a cookie's value; nil when it is not ours or has expired.
    package func keyId(of value: String, now: Timestamp) -> String? {
        guard let text = signature.verify(value, purpose: Self.purpose) else { return nil }
        let parts = text.split(separator: ".")
        guard parts.count == 2, let expires = Int64(parts[1]), now < Timestamp(seconds: expires) else { return nil }
        return String(parts[0])
    }

    private func header(_ value: String, maxAge: Int64) -> String {
        "\(Self.name)=\(value); Path=/; Max-Age=\(maxAge); HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")"
    }
}
