package import Postgres
package import PushContract

/// Which keys the stored tokens are sealed with, as the database remembers it: a server that lacks one of them, or has another key under its
/// name, is stopped before it takes good tokens for damaged ones.
package struct TokenKeyStore: Sendable {
    private let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// What keeps a key ring from being used with this database.
    package struct Mismatch: Error, Sendable, CustomStringConvertible {
        package let keyId: String
        /// The ring has a key of this name, and it is another one.
        package let isOther: Bool

        package var description: String {
            isOther
                ? "the key \(keyId) is not the one that this database's tokens were sealed with. Restore the right key file"
                : "this database holds tokens sealed with the key \(keyId), which is missing. Add it after the first line; once "
                    + "`pushwatch keys rotate-tokens` has run it can go"
        }
    }

    /// Notes the current key, and checks that every key in use is in the ring. Throws `Mismatch`.
    package func admit(_ ring: TokenKeyRing, now: Timestamp) async throws {
        let probe = try Self.probe(ring)
        try await pool.performTransaction { connection in
            try connection.execute(
                """
                INSERT INTO tokenKeys (keyId, probe, firstUsedAt) VALUES (\(ring.current.id), \(probe), \(now)) ON CONFLICT (keyId) DO NOTHING
                """
            )
            for row in try connection.query("SELECT keyId, probe FROM tokenKeys ORDER BY keyId") {
                let (keyId, probe) = try row.decode((String, String).self)
                guard ring.key(keyId) != nil else { throw Mismatch(keyId: keyId, isOther: false) }
                guard Self.opens(probe, with: ring) else { throw Mismatch(keyId: keyId, isOther: true) }
            }
        }
    }

    /// The other keys are not in use any more. Call when every token is sealed with the current one.
    package func retireAllBut(_ keyId: String) async throws {
        _ = try await pool.execute("DELETE FROM tokenKeys WHERE keyId <> \(keyId)")
    }

    /// Whether a column's tokens from before sealing have been sealed.
    package func isSealed(_ column: SealedColumn) async throws -> Bool {
        try await !pool.query("SELECT 1 FROM tokenSealing WHERE columnName = \(column.name)").isEmpty
    }

    package func noteSealed(_ column: SealedColumn, now: Timestamp) async throws {
        _ = try await pool.execute(
            "INSERT INTO tokenSealing (columnName, sealedAt) VALUES (\(column.name), \(now)) ON CONFLICT (columnName) DO NOTHING"
        )
    }

    /// Something sealed that is no token: whoever opens it has the key.
    private static func probe(_ ring: TokenKeyRing) throws -> String { try TokenVault(ring).seal(witness(), as: .push) }

    private static func opens(_ probe: String, with ring: TokenKeyRing) -> Bool {
        guard let witness = try? witness(), TokenVault.keyId(of: probe) != nil else { return false }
        return (try? TokenVault(ring).open(probe, as: .push, hash: witness.hash)) == witness
    }

    private static func witness() throws -> PushToken { try PushToken("pushwatch", provider: .fcm) }
}
