package import Postgres
import PushContract

/// Seals every stored token with the current key: those of older keys, and those that were stored before tokens were sealed.
///
/// Goes through the tables by page, in small transactions, beside live traffic. May be broken off and begun again: what is done is skipped.
package struct TokenResealer: Sendable {
    package struct Progress: Sendable, Hashable {
        package var column: String
        package var pagesDone: Int64
        package var pages: Int64
        package var resealed: Int
    }

    package struct Report: Sendable, Hashable, Encodable {
        package var resealed = 0
        /// Tokens that cannot be opened: their key is missing, or they were changed. They stay as they are.
        package var unreadable = 0

        package init(resealed: Int = 0, unreadable: Int = 0) {
            self.resealed = resealed
            self.unreadable = unreadable
        }
    }

    private static let stride: Int64 = 32

    private let pool: PostgresPool
    private let vault: TokenVault
    private let prefix: String

    /// - Parameter onlyClear: leaves what any key has sealed.
    package init(pool: PostgresPool, ring: TokenKeyRing, onlyClear: Bool = false) {
        self.pool = pool
        vault = TokenVault(ring)
        prefix = onlyClear ? TokenVault.prefix : "\(TokenVault.prefix)\(ring.current.id):"
    }

    package func run(
        columns: [SealedColumn] = SealedColumn.all,
        onProgress: (Progress) -> Void = { _ in }
    ) async throws -> Report {
        var total = Report()
        for column in columns {
            // A row that is updated meanwhile may move to a page that was passed. A pass that finds nothing has seen them all.
            while true {
                let pass = try await pass(over: column, before: total.resealed, onProgress)
                total.resealed += pass.resealed
                if pass.resealed == 0 {
                    total.unreadable += pass.unreadable
                    break
                }
            }
        }
        return total
    }

    private func pass(over column: SealedColumn, before: Int, _ onProgress: (Progress) -> Void) async throws -> Report {
        let pages = try await pool.query(column.pages())[0].decode(Int64.self)
        var report = Report()
        var page: Int64 = 0
        repeat {
            try Task.checkCancellation()
            let part = try await reseal(column, pages: page..<page + Self.stride)
            report.resealed += part.resealed
            report.unreadable += part.unreadable
            page += Self.stride
            onProgress(
                Progress(column: column.name, pagesDone: min(page, pages), pages: pages, resealed: before + report.resealed)
            )
        } while page < pages
        return report
    }

    private func reseal(_ column: SealedColumn, pages: Range<Int64>) async throws -> Report {
        let (vault, prefix) = (vault, prefix)
        return try await pool.performTransaction { connection in
            var report = Report()
            var sealed: [(place: String, text: String)] = []
            for row in try connection.query(column.stale(pages: pages, prefix: prefix)) {
                let (place, stored, hash) = try row.decode((String, String, String).self)
                guard let hash = TokenHash(rawValue: hash), let token = try? vault.open(stored, as: column.kind, hash: hash) else {
                    report.unreadable += 1
                    continue
                }
                sealed.append((place, try vault.seal(token, as: column.kind)))
            }
            if !sealed.isEmpty { report.resealed = try connection.execute(column.replace(sealed)) }
            return report
        }
    }
}
