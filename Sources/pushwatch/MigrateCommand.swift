import ArgumentParser
import Logging
import HTTPServer
import Postgres
import Server

/// `pushwatch migrate`
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring the database's schema up to date.",
        discussion: """
            Applies the numbered files of sql/migrations that are missing, each in its own transaction, and refuses when a file that was \
            applied has changed since. Safe to run from several places at once: they take turns.
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Show what is applied and what is missing, and change nothing.") var status = false

    func run() async throws {
        LogBootstrap.bootstrap(level: .notice)
        let configuration = try await options.load()
        let migrator = Migrator(
            configuration: PostgresConfiguration(url: configuration.adminDatabaseURL, applicationName: "pushwatch migrate"),
            directory: configuration.migrationsDirectory,
            logger: Logger(label: "migrate")
        )
        do {
            let migrations = status ? try await migrator.status() : try await migrator.migrate()
            for migration in migrations {
                let state = migration.appliedAt.map { "applied \($0)" } ?? "missing"
                Terminal.printLine("\(migration.version.formatted4)  \(migration.name)  \(state)")
            }
            if migrations.isEmpty { Terminal.printLine("The schema is up to date.") }
            if status, migrations.contains(where: { $0.appliedAt == nil }) { throw CommandFailure.check("Run `pushwatch migrate`.") }
        } catch let error as PostgresError where error.isUnavailable {
            throw CommandFailure.environment("The database cannot be reached: \(error.message)")
        } catch let error as MigrationError {
            throw CommandFailure.check(error.message)
        }
    }
}

extension Int {
    /// Four digits, as in the files' names.
    fileprivate var formatted4: String { String(repeating: "0", count: Swift.max(0, 4 - String(self).count)) + String(self) }
}
