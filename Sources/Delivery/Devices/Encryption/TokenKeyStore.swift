package import Postgres
package import PushContract

/// Which keys the stored tokens are encrypted with, as the database remembers it: a server that lacks one of them, or has another key under
/// its name, is stopped before it takes good tokens for damaged ones.
package struct TokenKeyStore: Sendable {
    private let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// What keeps a key set from being used with this database.
    package struct Mismatch: Error, Sendable, CustomStringConvertible {
        package let keyId: String
        /// The key set has a key of this name, and it is another one.
        package let isOther: Bool

        package var description: String {
            isOther
                ? "the key \(keyId) is not the one that this database's tokens were encrypted with. Restore the right key file"
                : "this database has tokens encrypted with the key \(keyId), which is missing. Add it after the first line; once "
                    + "`pushwatch token-keys rotate` has run it can go"
        }
    }

    /// Notes the current key, and checks that every key in use is in the key set. Throws `Mismatch`.
    package func admit(_ keySet: TokenKeySet, now: Timestamp) async throws {
        let checkValue = try Self.checkValue(keySet)
        try await pool.performTransaction { connection in
            try connection.execute(
                """
                INSERT INTO tokenKeys (keyId, checkValue, firstUsedAt) VALUES (\(keySet.current.id), \(checkValue), \(now)) ON CONFLICT (keyId) DO NOTHING
                """
            )
            for row in try connection.query("SELECT keyId, checkValue FROM tokenKeys ORDER BY keyId") {
                let (keyId, checkValue) = try row.decode((String, String).self)
                guard keySet.key(keyId) != nil else { throw Mismatch(keyId: keyId, isOther: false) }
                guard Self.canDecrypt(checkValue, with: keySet) else { throw Mismatch(keyId: keyId, isOther: true) }
            }
        }
    }

    /// The other keys are not in use any more. Call when every token is encrypted with the current one.
    package static func deleteKeysExcept(_ keyId: String, on session: any PostgresSession) async throws {
        _ = try await session.execute("DELETE FROM tokenKeys WHERE keyId <> \(keyId)")
    }

    /// Whether a column's tokens from before encryption have been encrypted.
    package func isEncrypted(_ column: EncryptedColumn) async throws -> Bool {
        try await !pool.query("SELECT 1 FROM tokenEncryption WHERE columnName = \(column.name)").isEmpty
    }

    func markEncrypted(_ column: EncryptedColumn, now: Timestamp) async throws {
        _ = try await pool.execute(
            "INSERT INTO tokenEncryption (columnName, encryptedAt) VALUES (\(column.name), \(now)) ON CONFLICT (columnName) DO NOTHING"
        )
    }

    /// An encrypted value that is no token: a server that can decrypt it has the key.
    private static func checkValue(_ keySet: TokenKeySet) throws -> String { try TokenCipher(keySet).encrypt(knownToken(), as: .push) }

    private static func canDecrypt(_ checkValue: String, with keySet: TokenKeySet) -> Bool {
        guard let knownToken = try? knownToken(), EncryptedToken(text: checkValue) != nil else { return false }
        return (try? TokenCipher(keySet).decrypt(checkValue, as: .push, hash: knownToken.hash)) == knownToken
    }

    private static func knownToken() throws -> PushToken { try PushToken("pushwatch", provider: .fcm) }
}
