import Crypto
import PushContract

/// One migration file.
package struct Migration: Sendable, Hashable {
    package let version: Int
    /// `verb_noun`, from the file's name.
    package let name: String
    package let sql: String
    /// SHA-256 of the file's bytes, in lower-case hex.
    package let checksum: String

    init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
        checksum = SHA256.hash(data: Array(sql.utf8)).hexDigits
    }

    package var fileName: String { "\(Migration.padded(version))_\(name).sql" }

    static func padded(_ version: Int) -> String {
        let digits = String(version)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// False for a file with a line `-- no-transaction`: for what PostgreSQL refuses in a transaction, such as CREATE INDEX CONCURRENTLY.
    ///
    /// Such a file can fail half way, so each of its statements must be harmless when run again (`IF NOT EXISTS`).
    var isTransactional: Bool {
        !sql.split(separator: "\n").contains { $0.split(separator: " ").prefix(2) == ["--", "no-transaction"] }
    }

    /// The newest migration that the oldest program knows that may run on a database with this one: `-- Oldest program: 0007`. Without such
    /// a line only programs may that know the migration itself.
    var oldestProgram: Int {
        get throws(MigrationError) {
            let mark = "-- Oldest program:"
            guard let line = sql.split(separator: "\n").first(where: { $0.hasPrefix(mark) }) else { return version }
            guard let oldest = Int(line.dropFirst(mark.count).filter { !$0.isWhitespace }), (1...version).contains(oldest) else {
                throw MigrationError(.badFile, "\(fileName): `\(mark)` must be followed by the number of a migration, such as \(mark) 0007")
            }
            return oldest
        }
    }

    /// The statements of the file, each to be sent alone.
    var statements: [String] { SQLStatements.split(sql) }
}
