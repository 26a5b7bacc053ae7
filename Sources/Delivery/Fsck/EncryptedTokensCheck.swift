package import Attempts
import Postgres

/// No raw token is stored: every stored token is encrypted.
package struct EncryptedTokensCheck: FsckCheck {
    package let name = "encryptedTokens"

    /// Of a table, that a statement looks at.
    private let pages: Int64

    package init(pages: Int64 = 2048) { self.pages = pages }

    package func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        var tokens = 0
        var faults: [FsckFault] = []
        for (done, column) in EncryptedColumn.all.enumerated() {
            context.progress(done, of: EncryptedColumn.all.count)
            var clear = 0
            for piece in try await FilePieces.read(column.table, pages: pages, on: context.pool) ?? [] {
                let (count, clearCount) = try await context.look(column.count(in: piece))[0].decode((Int, Int).self)
                tokens += count
                clear += clearCount
            }
            guard clear > 0 else { continue }
            faults.append(
                FsckFault(
                    key: column.name,
                    text:
                        "\(clear) tokens in \(column.name) are not encrypted; a running server encrypts them, or `pushwatch token-keys rotate`"
                )
            )
        }
        return [FsckReport.Line(name, "every stored token is encrypted", examined: "\(tokens) tokens", faults: faults)]
    }
}
