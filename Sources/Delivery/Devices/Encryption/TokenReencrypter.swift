package import Postgres
import PushContract

/// Encrypts every stored token with the current key: those of older keys, and those that were stored before tokens were encrypted.
///
/// Goes through the tables by page, in small transactions, during live traffic. May be interrupted and started again: what is done is
/// skipped.
package struct TokenReencrypter: Sendable {
    package struct Progress: Sendable, Hashable {
        package var column: String
        package var pagesDone: Int64
        package var pages: Int64
        package var reencrypted: Int
    }

    package struct Report: Sendable, Hashable, Encodable {
        package var reencrypted = 0
        /// Tokens that cannot be opened: their key is missing, or they were changed. They stay as they are.
        package var unreadable = 0

        package init(reencrypted: Int = 0, unreadable: Int = 0) {
            self.reencrypted = reencrypted
            self.unreadable = unreadable
        }
    }

    private static let stride: Int64 = 32

    private let pool: PostgresPool
    private let cipher: TokenCipher
    /// Of what is left as it is; nil: of any key.
    private let keyId: String?

    /// - Parameter onlyClear: leaves what any key has encrypted.
    package init(pool: PostgresPool, keySet: TokenKeySet, onlyClear: Bool = false) {
        self.pool = pool
        cipher = TokenCipher(keySet)
        keyId = onlyClear ? nil : keySet.current.id
    }

    package func run(
        columns: [EncryptedColumn] = EncryptedColumn.all,
        onProgress: (Progress) -> Void = { _ in }
    ) async throws -> Report {
        var total = Report()
        for column in columns {
            // A row that is updated meanwhile may move to a page that was passed. A pass that finds nothing has seen them all.
            while true {
                let pass = try await pass(over: column, before: total.reencrypted, onProgress)
                total.reencrypted += pass.reencrypted
                if pass.reencrypted == 0 {
                    total.unreadable += pass.unreadable
                    break
                }
            }
        }
        return total
    }

    private func pass(over column: EncryptedColumn, before: Int, _ onProgress: (Progress) -> Void) async throws -> Report {
        let pages = try await pool.query(column.pages())[0].decode(Int64.self)
        var report = Report()
        var page: Int64 = 0
        repeat {
            try Task.checkCancellation()
            let part = try await reencrypt(column, pages: page..<page + Self.stride)
            report.reencrypted += part.reencrypted
            report.unreadable += part.unreadable
            page += Self.stride
            onProgress(
                Progress(column: column.name, pagesDone: min(page, pages), pages: pages, reencrypted: before + report.reencrypted)
            )
        } while page < pages
        return report
    }

    private func reencrypt(_ column: EncryptedColumn, pages: Range<Int64>) async throws -> Report {
        let (cipher, keyId) = (cipher, keyId)
        return try await pool.performTransaction { connection in
            var report = Report()
            var encrypted: [(location: String, token: EncryptedToken)] = []
            for row in try connection.query(column.stale(pages: pages, keyId: keyId)) {
                let (location, stored, hash) = try row.decode((String, [UInt8], String).self)
                guard let hash = TokenHash(rawValue: hash), let token = try? column.decrypt(stored, hash: hash, with: cipher) else {
                    report.unreadable += 1
                    continue
                }
                encrypted.append((location, try cipher.encrypted(token, as: column.kind)))
            }
            if !encrypted.isEmpty { report.reencrypted = try connection.execute(column.replace(encrypted)) }
            return report
        }
    }
}
