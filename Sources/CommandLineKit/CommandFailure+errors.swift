import Foundation
import HTTPServer
import NIOCore
package import Postgres
import Server

extension CommandFailure {
    /// The errors that a person can act on, as sentences; nil for all others.
    package init?(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as PostgresError: self.init(error)
        case let error as ConfigurationError: self = .environment(error.description)
        case let problem as Problem: self = .usage(problem.detail)
        case let error as IOError where error.errnoCode == EADDRINUSE:
            self = .environment("The port is in use by another program. Choose another one.")
        case let error as IOError where [EACCES, EADDRNOTAVAIL].contains(error.errnoCode):
            self = .environment("The address cannot be listened on: \(String(cString: strerror(error.errnoCode))). Choose another one.")
        default: return nil
        }
    }

    /// Of a migration that failed: with the code of what the database said, if a person can act on that.
    package init(_ error: MigrationError) {
        if error.kind == .unreadableDirectory {
            self = .environment("\(error.message). Set PUSHWATCH_MIGRATIONS_DIRECTORY (`migrations.directory`).")
            return
        }
        // A table that a migration does not find is the migration's fault: to run it again is no advice.
        let cause = error.cause.flatMap { $0.code == .undefinedTable ? nil : CommandFailure($0) }
        self = cause ?? .check(error.message)
    }

    package init?(_ error: PostgresError) {
        switch error.code {
        case .insufficientPrivilege:
            self = .environment(
                "The database refuses it: \(error.message). Use a login that may do this: --database, PUSHWATCH_DATABASE_URL, or "
                    + "PUSHWATCH_ADMIN_DATABASE_URL with the owner of the tables (docs/operations.md#database-roles)."
            )
        case .readOnlyTransaction:
            self = .environment(
                "The database is read-only: \(error.message). Name the primary in PUSHWATCH_DATABASE_URL (`database.url`, --database); with "
                    + "several hosts, add target_session_attrs=read-write."
            )
        case .undefinedTable:
            self = .environment("The database's schema is missing or of another version. Run `pushwatch migrate`.")
        // PgBouncer's words; the code does not say it.
        case _ where error.isUnavailable && error.message.contains("startup parameter"):
            self = .environment(
                "The database's address leads to a connection pooler that does not pass on session settings: set "
                    + "`database.preparesStatements: false` (PUSHWATCH_DATABASE_PREPARES_STATEMENTS=false)."
            )
        case _ where error.isUnavailable:
            self = .environment("The database cannot be reached: \(error.message)")
        default: return nil
        }
    }
}
