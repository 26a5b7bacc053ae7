/// Which programs may run on a database at the same time. A program is named by the newest migration that it contains.
package struct SchemaPrograms: Sendable, Hashable {
    /// Of the oldest program that may run.
    package let oldest: Int
    /// The database's newest migration.
    package let newest: Int
    /// Of this program.
    package let own: Int

    package var oldestName: String { Migration.padded(oldest) }
    package var newestName: String { Migration.padded(newest) }
    package var ownName: String { Migration.padded(own) }
}
