import Foundation
import ServiceKit

/// Reads `NNNN_verb_noun.sql` files, numbered from 0001 without a gap. Other kinds of files in the directory are ignored.
enum MigrationDirectory {
    /// Not a migration: run after them, each time.
    static let roles = "roles.sql"

    /// Who may do what with what the migrations made; nil where the directory says nothing of it.
    static func roles(in path: String) -> String? { try? String(contentsOfFile: path + "/" + roles, encoding: .utf8) }

    static func load(_ path: String, allowsGaps: Bool = false) throws(MigrationError) -> [Migration] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            let cause = FileFault.cause(path, isDirectory: true)
            throw MigrationError(.unreadableDirectory, "the migrations in \(path) cannot be read: \(cause)")
        }
        var migrations: [Migration] = []
        for name in names.sorted() where name.hasSuffix(".sql") && name != roles { migrations.append(try read(name, in: path)) }
        guard !migrations.isEmpty else { throw MigrationError(.unreadableDirectory, "there are no migrations in \(path)") }
        migrations.sort { $0.version < $1.version }
        try checkNumbers(migrations, allowsGaps: allowsGaps)
        return migrations
    }

    private static func read(_ name: String, in path: String) throws(MigrationError) -> Migration {
        guard let match = name.wholeMatch(of: /([0-9]{4})_([A-Za-z0-9]+(?:_[A-Za-z0-9]+)*)\.sql/), let version = Int(match.1) else {
            throw MigrationError(.badName, "\(path)/\(name): a migration is named NNNN_verb_noun.sql, such as 0001_create_attempts.sql")
        }
        guard let sql = try? String(contentsOfFile: path + "/" + name, encoding: .utf8) else {
            throw MigrationError(.unreadableDirectory, "\(path)/\(name) cannot be read: \(FileFault.cause("\(path)/\(name)"))")
        }
        return Migration(version: version, name: String(match.2), sql: sql)
    }

    private static func checkNumbers(_ migrations: [Migration], allowsGaps: Bool) throws(MigrationError) {
        for (index, migration) in migrations.enumerated() {
            if index > 0, migrations[index - 1].version == migration.version {
                throw MigrationError(
                    .duplicateNumber,
                    "\(migrations[index - 1].fileName) and \(migration.fileName) have the same number: renumber the newer one"
                )
            }
            guard allowsGaps || migration.version == index + 1 else {
                let missing = Migration.padded(index + 1)
                throw MigrationError(
                    .gap,
                    "\(migration.fileName) is there but no \(missing)_….sql: migrations are numbered from 0001 without a gap"
                )
            }
        }
    }
}
