package import Attempts
import Postgres

/// No raw token is stored: every stored token is encrypted.
package struct EncryptedTokensCheck: FsckCheck {
    package let name = "encryptedTokens"

    package init() {}

    package func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        var tokens = 0
        var faults: [FsckFault] = []
        for (done, column) in EncryptedColumn.all.enumerated() {
            context.progress(done, of: EncryptedColumn.all.count)
            let (count, clear) = try await context.look(column.count())[0].decode((Int, Int).self)
            tokens += count
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
