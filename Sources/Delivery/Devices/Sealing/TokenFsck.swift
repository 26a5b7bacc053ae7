package import Postgres

/// Checks that no raw token is stored, in addition to what `AttemptFsck` checks of attempts.
package struct TokenFsck: Sendable {
    package struct Line: Sendable, Hashable, Encodable {
        package var column: String
        package var tokens: Int
        /// Not encrypted.
        package var clear: Int

        package init(column: String, tokens: Int, clear: Int) {
            self.column = column
            self.tokens = tokens
            self.clear = clear
        }
    }

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    package func run() async throws -> [Line] {
        var lines: [Line] = []
        for column in EncryptedColumn.all {
            let (tokens, clear) = try await pool.query(column.count())[0].decode((Int, Int).self)
            lines.append(Line(column: column.name, tokens: tokens, clear: clear))
        }
        return lines
    }
}
