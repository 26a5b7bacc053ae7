import ArgumentParser
import Attempts
import CommandLineKit
import HTTPServer
import Logging
import Postgres
import Server

/// `pushwatch database distribute`
struct DatabaseDistributeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "distribute",
        abstract: "Distribute attempts and ledger over the nodes of a Citus cluster.",
        discussion: """
            Run it on the coordinator (--database, or admin.database.url), as the owner of the tables, after `pushwatch migrate` (docs/citus.md). \
            Each table is copied in one transaction, in which those who write and read it wait; requests that wait for more than 9 s get 503. \
            Changes nothing that is distributed already; after an interruption, run it again. Everything else stays on the coordinator.
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Number of shards; two for each worker unless given.") var shards: Int?
    @Flag(help: "Only show what would be moved.") var dryRun = false
    @Flag(help: "Print JSON: shards, workers, and the tables that were moved.") var json = false

    private struct Document: Encodable {
        struct Table: Encodable {
            var table: String
            var rows: Int64
            var bytes: Int64
        }

        var shards: Int
        var workers: Int
        var isDryRun: Bool
        var tables: [Table]
    }

    func validate() throws {
        if let shards, !(1...1024).contains(shards) { throw ValidationError("--shards must be from 1 to 1024.") }
    }

    func run() async throws {
        LogBootstrap.bootstrap(level: .error)
        let configuration = try await options.load()
        let database = configuration.postgres(configuration.adminDatabaseURL, applicationName: "pushwatch distribute")
        do {
            // A schema that is not there at all has sentences of its own, after those about the server.
            let report = try await TableDistribution(configuration: database).distribute(shards: shards, isDryRun: true)
            if !report.steps.isEmpty { try await checkMigrations(configuration, database) }
            try show(dryRun ? report : try await TableDistribution(configuration: database).distribute(shards: shards, onEvent: show))
        } catch let refusal as DistributionRefusal {
            throw CommandFailure.check(refusal.description)
        } catch let error as MigrationError {
            throw CommandFailure(error)
        } catch let error as PostgresError where error.isUnavailable && error.code != .readOnlyTransaction {
            throw CommandFailure.environment("The database, or one of its nodes, cannot be reached: \(error.message)")
        } catch let error as PostgresError where error.code == .lockNotAvailable {
            throw CommandFailure.check("\(error.message). What was distributed stays so; run this again.")
        }
    }

    private func checkMigrations(_ configuration: ServerConfiguration, _ database: PostgresConfiguration) async throws {
        let migrator = Migrator(configuration: database, directory: configuration.migrationsDirectory, logger: Logger(label: "migrate"))
        guard let missing = try await migrator.status().first(where: { $0.appliedAt == nil }) else { return }
        throw CommandFailure.environment("The database lacks migration \(missing.name). Run `pushwatch migrate`, then this again.")
    }

    private func show(_ event: TableDistribution.Event) {
        switch event {
        case .begins(let step): Terminal.progress("\(step.text); those who use it wait", isLast: true)
        case .ended(let step, let duration):
            Terminal.progress(
                "\(step.table): moved in \(duration.components.seconds) s",
                isLast: true
            )
        }
    }

    private func show(_ report: TableDistribution.Report) throws {
        if json {
            let tables = report.steps.map { Document.Table(table: "\($0.table)", rows: $0.rows, bytes: $0.bytes) }
            return try Terminal.printLine(
                json: Document(shards: report.shards, workers: report.workers, isDryRun: dryRun, tables: tables)
            )
        }
        let summary = "\(report.shards) shards on \(report.workers) workers"
        guard !report.steps.isEmpty else { return Terminal.printLine("Distributed already: \(summary).") }
        if dryRun { for step in report.steps { Terminal.printLine(step.text) } }
        Terminal.printLine(dryRun ? "Would be distributed: \(summary)." : "Distributed: \(summary). Restart the instances.")
    }
}

extension TableDistribution.Step {
    fileprivate var text: String { "\(table): about \(rows) rows, \(bytes.sizeText)" }
}
