import Postgres

/// A column of encrypted tokens.
package struct EncryptedColumn: Sendable, Hashable {
    package let table: String
    /// The encrypted token.
    package let token: String
    /// Its hash, which the encryption is bound to.
    package let hash: String
    package let kind: TokenKind

    package var name: String { "\(table).\(token)" }

    /// Every one there is.
    package static let all: [EncryptedColumn] = [
        EncryptedColumn(table: "devices", token: "pushToken", hash: "pushTokenHash", kind: .push),
        EncryptedColumn(table: "devices", token: "pushToStartToken", hash: "pushToStartTokenHash", kind: .pushToStart),
        EncryptedColumn(table: "deviceStartTokens", token: "token", hash: "tokenHash", kind: .pushToStart),
        EncryptedColumn(table: "pushDeliveries", token: "pushToken", hash: "tokenHash", kind: .delivery),
        EncryptedColumn(table: "liveActivities", token: "updateToken", hash: "updateTokenHash", kind: .update),
    ]

    /// How many pages the table has: the measure of a pass over it.
    func pages() -> Query { "SELECT (pg_relation_size(\(table)::regclass) / current_setting('block_size')::bigint)::bigint" }

    /// The tokens of these pages that are to be encrypted again, locked until the transaction ends.
    ///
    /// - Parameter prefix: of what is as it should be.
    func stale(pages: Range<Int64>, prefix: String) -> Query {
        """
        SELECT ctid::text, \(raw: token), \(raw: hash) FROM \(raw: table)
        WHERE ctid >= \("(\(pages.lowerBound),0)")::tid AND ctid < \("(\(pages.upperBound),0)")::tid
          AND \(raw: token) IS NOT NULL AND NOT starts_with(\(raw: token), \(prefix))
        ORDER BY ctid FOR NO KEY UPDATE
        """
    }

    func replace(_ encrypted: [(location: String, text: String)]) -> Query {
        """
        UPDATE \(raw: table) t SET \(raw: token) = s.encrypted
        FROM unnest(\(encrypted.map(\.location)), \(encrypted.map(\.text))) AS s(location, encrypted) WHERE t.ctid = s.location::tid
        """
    }

    /// How many tokens a piece of the table has, and how many of them are plain text.
    func count(in piece: Query) -> Query {
        """
        SELECT count(\(raw: token)), count(*) FILTER (WHERE \(raw: token) NOT LIKE 'encrypted:%:%') FROM \(raw: table) WHERE \(piece)
        """
    }
}
