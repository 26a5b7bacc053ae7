import HTTPServer
import Postgres
package import PushContract

/// A new key in the place of an older one: what the new one gets, and when the old one ends.
///
/// Both work in between, so that callers can be changed over one by one.
package struct KeyRotation: Sendable, Equatable {
    /// When the new key expires; nil for never.
    package let expiresAt: Timestamp?
    /// When the old key expires: after the overlap, or earlier where it would have anyway.
    package let oldExpiresAt: Timestamp

    /// - Parameters:
    ///   - overlap: how long the old key works on; zero ends it at once.
    ///   - expiry: when the new key expires; nil gives it as long a life as the old one had from its creation to its expiry.
    ///
    /// Throws for a key that is not active: what is over is not prolonged.
    package init(of key: APIKey, overlap: Duration, expiry: Timestamp?, now: Timestamp) throws(APIKeyStore.Refusal) {
        guard key.state(at: now) == .active else { throw .notActive(key.id) }
        expiresAt = expiry ?? key.expiresAt.map { now + ($0 - key.createdAt) }
        let end = now + overlap
        oldExpiresAt = key.expiresAt.map { min($0, end) } ?? end
    }
}

extension APIKeyStore {
    /// Makes a key with the name, scopes, quota and apps of another, which expires after `overlap`. The text in the answer is the only copy
    /// of the new secret there will ever be. With both keys as they are now; `before` is the old one as it was.
    package func rotate(
        id: String,
        overlap: Duration,
        expiry: Timestamp? = nil,
        createdBy: String,
        now: Timestamp
    ) async throws -> (before: APIKey, old: APIKey, replacement: APIKey, text: APIKeyText) {
        guard let old = try await find(id: id) else { throw Refusal.notActive(id) }
        let rotation = try KeyRotation(of: old, overlap: overlap, expiry: expiry, now: now)
        try Self.check(apps: old.apps, expiresAt: rotation.expiresAt, now: now)
        if let later = try await list().first(where: { $0.replaces == id }) { throw Refusal.replaced(by: later.id) }
        let text = APIKeyText.generate()
        // One statement: no key is ended without its replacement. Of two rotations at once, one finds `replaces` taken.
        let made = try await session.execute(
            """
            WITH ending AS (
                UPDATE apiKeys SET expiresAt = \(rotation.oldExpiresAt) WHERE id = \(id) AND revokedAt IS NULL
                RETURNING name, scopes, quotaPerMinute, apps
            )
            INSERT INTO apiKeys (id, name, keyHash, scopes, quotaPerMinute, createdAt, createdBy, apps, expiresAt, replaces)
            SELECT \(text.id), name, \(text.hash), scopes, quotaPerMinute, \(now), \(createdBy), apps, \(rotation.expiresAt), \(id)
            FROM ending
            """
        )
        guard made == 1, let replacement = try await find(id: text.id) else { throw Refusal.notActive(id) }
        var ending = old
        ending.expiresAt = rotation.oldExpiresAt
        return (old, ending, replacement, text)
    }
}
