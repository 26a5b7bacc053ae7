import Hummingbird

/// The cookie of a session: 43 random characters of base64url, of which the database has the hash.
package struct SessionCookie: Sendable {
    private let isSecure: Bool
    private let maxAge: Int64

    /// - Parameter isSecure: true where the site is reached over HTTPS; browsers then never send the cookie without it.
    package init(isSecure: Bool, limits: SessionLimits) {
        self.isSecure = isSecure
        maxAge = limits.lifetime.components.seconds
    }

    /// The `Set-Cookie` that signs in.
    func set(_ secret: String) -> String { header(secret, maxAge: maxAge) }

    /// The `Set-Cookie` that signs out.
    func clear() -> String { header("", maxAge: 0) }

    /// Where the site is reached over HTTPS, with the prefix under which browsers take no cookie of another host: a sibling subdomain
    /// could otherwise sign a person in as somebody else.
    private var name: String { isSecure ? "__Host-pushwatch_session" : "pushwatch_session" }

    /// Nil without a cookie, and for one that cannot be ours, so that it costs no query.
    func secret(of request: Request) -> String? {
        guard let value = request.cookies[name]?.value, value.utf8.count == 43 else { return nil }
        return value
    }

    private func header(_ value: String, maxAge: Int64) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(maxAge); HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")"
    }
}
