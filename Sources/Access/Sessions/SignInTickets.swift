package import Postgres
package import PushContract
import ServiceKit

/// Links that sign somebody in once, for example the one that `pushwatch-dev up` prints: `/sign-in?ticket=…`, 43 random characters of which
/// the database has the hash.
///
/// The page that takes the ticket should answer 200 with a link or a refresh to the next page, not a redirect: browsers leave a
/// SameSite=Strict cookie out of a redirect that began on another site.
package struct SignInTickets: Sendable {
    package static let lifetime = Duration.seconds(15 * 60)

    private let session: any PostgresSession

    package init(_ session: any PostgresSession) { self.session = session }

    /// A ticket for this person with the rights of this key.
    package func issue(keyId: String, person: String, now: Timestamp) async throws -> String {
        let ticket = Base64URL.encode(Secrets.random(32))
        try await session.execute("DELETE FROM signInTickets WHERE expiresAt <= \(now)")
        try await session.execute(
            """
            INSERT INTO signInTickets (ticketHash, keyId, person, expiresAt)
            VALUES (\(Secrets.sha256(ticket)), \(keyId), \(person), \(now + Self.lifetime))
            """
        )
        return ticket
    }

    /// Uses the ticket up. Its key and person; nil when it is not ours, has expired, or was used before.
    func redeem(_ ticket: String, now: Timestamp) async throws -> (keyId: String, person: String)? {
        try await session.query(
            "DELETE FROM signInTickets WHERE ticketHash = \(Secrets.sha256(ticket)) AND expiresAt > \(now) RETURNING keyId, person"
        ).first?.decode((String, String).self)
    }
}
