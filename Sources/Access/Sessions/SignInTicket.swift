import HTTPServer
package import Postgres
package import PushContract

/// Links that sign somebody in once, for example the one that `pushwatch-dev up` prints.
///
/// The page that takes the ticket should answer 200 with a link or a refresh to the next page, not a redirect: browsers leave a
/// SameSite=Strict cookie out of a redirect that began on another site.
package struct SignInTicket: Sendable {
    private static let purpose = "sign-in"
    package static let lifetime = Duration.seconds(15 * 60)

    private let signature: Signature
    private let session: any PostgresSession

    /// - Parameter secret: the same as for `SessionCookie`; signatures of the two are not interchangeable.
    package init(secret: [UInt8], session: any PostgresSession) {
        signature = Signature(secret: secret)
        self.session = session
    }

    /// A ticket with the rights of this key, for `/sign-in?ticket=…`.
    package func issue(keyId: String, now: Timestamp, lifetime: Duration = Self.lifetime) -> String {
        let nonce = Base64URL.encode(Secrets.random(12))
        return signature.sign("\(keyId).\((now + lifetime).seconds).\(nonce)", purpose: Self.purpose)
    }

    /// Uses the ticket up. The id of its key; nil when it is not ours, has expired, or was used before.
    func redeem(_ ticket: String, now: Timestamp) async throws -> String? {
        guard let (keyId, expires, nonce) = parse(ticket), now < expires else { return nil }
        try await session.execute("DELETE FROM usedSignInTickets WHERE expiresAt < \(now - .seconds(3_600))")
        let inserted = try await session.execute(
            "INSERT INTO usedSignInTickets (nonce, expiresAt) VALUES (\(nonce), \(expires)) ON CONFLICT (nonce) DO NOTHING"
        )
        return inserted == 1 ? keyId : nil
    }

    private func parse(_ ticket: String) -> (keyId: String, expires: Timestamp, nonce: String)? {
        guard let text = signature.verify(ticket, purpose: Self.purpose) else { return nil }
        let parts = text.split(separator: ".")
        guard parts.count == 3, let expires = Int64(parts[1]) else { return nil }
        return (String(parts[0]), Timestamp(seconds: expires), String(parts[2]))
    }
}
