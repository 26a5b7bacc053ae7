import ArgumentParser
import CommandLineKit
import Logging
import Postgres
import PushContract
import Server

/// `pushwatch migrate`
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Apply the missing schema migrations.",
        discussion: """
            Applies the numbered files of sql/migrations that are missing, each in its own transaction. Fails if a file that was applied has \
            changed since. Several may run at once: they wait for each other.
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Only show what is applied and what is missing.") var status = false
    @Flag(help: "Print JSON: version, name and time of each.") var json = false

    struct Row: Encodable {
        var version: Int
        var name: String
        var appliedAt: Timestamp?
    }

    func run() async throws {
        let configuration = try await options.load()
        let format = configuration.logFormat
        ProcessSetup.log(level: .notice, format: format)
        let logger = Logger(label: "migrate")
        let database = configuration.postgres(configuration.adminDatabaseURL, applicationName: "pushwatch migrate")
        let migrator = Migrator(
            configuration: database,
            directory: configuration.migrationsDirectory,
            logger: logger
        )
        do {
            if case .tooOld(let sentence) = try await ServerVersion.verdict(at: database) { throw CommandFailure.environment(sentence) }
            let migrations = status ? try await migrator.status() : try await migrator.migrate()
            // Where the log is JSON it says what was applied; a table in the same journal would not be.
            if format == "json", !status, !json { return }
            if json { try Terminal.printLine(json: migrations.map { Row(version: $0.version, name: $0.name, appliedAt: $0.appliedAt) }) }
            for migration in migrations where !json {
                let state = migration.appliedAt.map { "applied \($0)" } ?? "missing"
                Terminal.printLine("\(migration.version.formatted4)  \(migration.name)  \(state)")
            }
            if status, !json {
                let programs = try await migrator.programs()
                Terminal.printLine(
                    "Programs that know migration \(programs.oldestName) may share the database; this one knows \(programs.ownName)."
                )
            }
            if migrations.isEmpty, !json { Terminal.printLine("The schema is up to date.") }
            if status, migrations.contains(where: { $0.appliedAt == nil }) { throw CommandFailure.check("Run `pushwatch migrate`.") }
        } catch let error as MigrationError {
            throw CommandFailure(error).logged(format: format, logger)
        } catch {
            guard let failure = CommandFailure(error) else { throw error }
            throw failure.logged(format: format, logger)
        }
    }
}

extension Int {
    /// Four digits, as in the files' names.
    fileprivate var formatted4: String { String(repeating: "0", count: Swift.max(0, 4 - String(self).count)) + String(self) }
}
