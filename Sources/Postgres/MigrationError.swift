/// Why migrations were not run. Nothing is repaired or skipped; the message says which file or row is at fault.
package struct MigrationError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        case unreadableDirectory
        case badName
        case duplicateNumber
        case gap
        case badFile
        /// A file was changed after it had been applied.
        case changedFile
        /// The database has a migration below our newest that we have no file for.
        case missingFile
        /// The database has migrations newer than all of ours.
        case newerDatabase
        /// The database has the 33 migrations from before the schema's files were rewritten; there is no way from them to ours.
        case earlierSchema
        /// A file whose successor has been applied already.
        case outOfOrder
        /// A file that runs without a transaction is pending, and the address is a pooler's. Nothing was applied.
        case sharedSession
        /// The SQL failed; everything of that file was undone (unless it is marked no-transaction).
        case failed
    }

    package let kind: Kind
    package let message: String
    /// The server's error behind `failed`.
    package let cause: PostgresError?

    init(_ kind: Kind, _ message: String, cause: PostgresError? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }

    package var description: String { message }
}
