import Postgres
import PushContract

/// A column of encrypted tokens.
package struct EncryptedColumn: Sendable, Hashable {
    package let table: String
    /// The encrypted token.
    package let token: String
    /// Its hash, which the encryption is bound to.
    package let hash: String
    package let kind: TokenKind
    var encoding = Encoding.text

    /// Of the encrypted token and its hash.
    enum Encoding: Sendable {
        /// `encrypted:<key id>:<base64>` and `sha256:…`.
        case text
        /// Both in `bytea`, the hash as its 32 bytes.
        case bytes
    }

    package var name: String { "\(table).\(token)" }

    /// Every one there is.
    package static let all: [EncryptedColumn] = [
        EncryptedColumn(table: "devices", token: "pushToken", hash: "pushTokenHash", kind: .push),
        EncryptedColumn(table: "devices", token: "pushToStartToken", hash: "pushToStartTokenHash", kind: .pushToStart),
        EncryptedColumn(table: "deviceStartTokens", token: "token", hash: "tokenHash", kind: .pushToStart),
        EncryptedColumn(table: "pushDeliveries", token: "pushToken", hash: "tokenHash", kind: .delivery, encoding: .bytes),
        EncryptedColumn(table: "liveActivities", token: "updateToken", hash: "updateTokenHash", kind: .update),
    ]

    /// How many pages the table has: the measure of a pass over it.
    func pages() -> Query { "SELECT (pg_relation_size(\(table)::regclass) / current_setting('block_size')::bigint)::bigint" }

    /// The tokens of these pages that are to be encrypted again, locked until the transaction ends.
    ///
    /// - Parameter keyId: of the key that they are to be encrypted with; nil: any.
    func stale(pages: Range<Int64>, keyId: String?) -> Query {
        """
        SELECT ctid::text, \(raw: token), \(hashText) FROM \(raw: table)
        WHERE ctid >= \("(\(pages.lowerBound),0)")::tid AND ctid < \("(\(pages.upperBound),0)")::tid
          AND \(raw: token) IS NOT NULL AND NOT \(isEncrypted(keyId: keyId))
        ORDER BY ctid FOR NO KEY UPDATE
        """
    }

    /// The token of a row of `stale`.
    func decrypt(_ stored: [UInt8], hash: TokenHash, with cipher: TokenCipher) throws(TokenCipherError) -> PushToken {
        switch encoding {
        case .text: try cipher.decrypt(String(decoding: stored, as: UTF8.self), as: kind, hash: hash)
        case .bytes: try cipher.decrypt(stored, as: kind, hash: hash)
        }
    }

    func replace(_ encrypted: [(location: String, token: EncryptedToken)]) -> Query {
        let tokens: Query =
            switch encoding {
            case .text: "\(encrypted.map(\.token.text))"
            case .bytes: "\(encrypted.map(\.token.bytes))"
            }
        return """
            UPDATE \(raw: table) t SET \(raw: token) = s.encrypted
            FROM unnest(\(encrypted.map(\.location)), \(tokens)) AS s(location, encrypted) WHERE t.ctid = s.location::tid
            """
    }

    /// How many tokens a piece of the table has, and how many of them are plain text.
    func count(in piece: Query) -> Query {
        """
        SELECT count(\(raw: token)), count(*) FILTER (WHERE NOT \(isEncrypted(keyId: nil))) FROM \(raw: table) WHERE \(piece)
        """
    }

    private func isEncrypted(keyId: String?) -> Query {
        switch encoding {
        case .text: return "starts_with(\(raw: token), \(EncryptedToken.textPrefix(keyId: keyId)))"
        case .bytes:
            let prefix = EncryptedToken.bytesPrefix(keyId: keyId)
            return "(substring(\(raw: token) FOR \(raw: "\(prefix.count)")) = \(prefix))"
        }
    }

    private var hashText: Query {
        switch encoding {
        case .text: "\(raw: hash)"
        case .bytes: "'sha256:' || encode(\(raw: hash), 'hex')"
        }
    }
}
