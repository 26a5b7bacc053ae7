import PushContract

/// A migration that the database says was applied.
struct AppliedMigration: Sendable, Hashable {
    let version: Int
    let name: String
    let checksum: String
    let appliedAt: Timestamp
    let durationMs: Int
    /// Nil in rows from before it was recorded.
    var oldestProgram: Int?
}

/// What is left to do, decided from the files and the database's record alone.
struct MigrationPlan {
    let pending: [Migration]
    /// The database has migrations of a newer program, which lets this one run.
    let isNewerDatabase: Bool
    /// Which programs may run once the plan is carried out.
    let programs: SchemaPrograms

    /// The first file whose name changed when the files were rewritten, before the first release.
    private static let earlierFourthName = "create_sends"

    /// Refuses any disagreement between the two.
    init(files: [Migration], applied: [AppliedMigration]) throws(MigrationError) {
        if applied.contains(where: { $0.version == 4 && $0.name == MigrationPlan.earlierFourthName }) {
            throw MigrationError(
                .earlierSchema,
                "the database has the schema of an earlier development version, which cannot be upgraded: use a new, empty database"
            )
        }
        let known = Dictionary(files.map { ($0.version, $0) }) { first, _ in first }
        let newest = files.last?.version ?? 0
        for row in applied.sorted(by: { $0.version < $1.version }) {
            let title = "\(Migration.padded(row.version))_\(row.name)"
            guard let file = known[row.version] else {
                guard row.version > newest else {
                    throw MigrationError(.missingFile, "\(title).sql was applied at \(row.appliedAt) but the file is missing: restore it")
                }
                let oldest = row.oldestProgram ?? row.version
                guard newest >= oldest else {
                    throw MigrationError(
                        .newerDatabase,
                        "the database has \(title), which needs a program that knows migration \(Migration.padded(oldest)); this program "
                            + "knows migrations up to \(Migration.padded(newest)): use a newer program"
                    )
                }
                continue
            }
            guard file.checksum == row.checksum, file.name == row.name else {
                throw MigrationError(
                    .changedFile,
                    "\(file.fileName) was changed after it was applied (as \(title), at \(row.appliedAt)): "
                        + "restore it and put the change into a new migration"
                )
            }
        }
        let done = Set(applied.map(\.version))
        let last = done.max() ?? 0
        if let skipped = files.first(where: { $0.version < last && !done.contains($0.version) }) {
            throw MigrationError(
                .outOfOrder,
                "\(skipped.fileName) was never applied although \(Migration.padded(last)) was: the database's schemaMigrations is damaged"
            )
        }
        pending = files.filter { !done.contains($0.version) }
        isNewerDatabase = last > newest
        var oldest = applied.map { $0.oldestProgram ?? $0.version }.max() ?? 0
        for migration in pending { oldest = max(oldest, try migration.oldestProgram) }
        programs = SchemaPrograms(oldest: oldest, newest: max(last, newest), own: newest)
    }
}
