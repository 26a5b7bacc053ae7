import Alerting
import ArgumentParser
import Foundation
import HTTPServer
import Logging
import Postgres
import PushContract
import Server

/// `pushwatch alerts …`
struct AlertsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts",
        abstract: "See, acknowledge, silence and accept alerts, and try the way they take.",
        subcommands: [
            List.self, Show.self, Acknowledge.self, Silence.self, Silences.self, Unsilence.self, Accept.self, Acceptances.self,
            Unaccept.self, Exclude.self, Exclusions.self, Unexclude.self,
            Retry.self, Test.self,
        ]
    )

    /// What every one of them takes.
    struct Options: ParsableArguments {
        @OptionGroup var configuration: ConfigurationOptions
        @Option(help: "Connection string of the database; otherwise the configured one.") var database: String?
        @Flag(help: "JSON instead of tables, as the HTTP interface answers.") var json = false

        /// Prints one document as JSON.
        func printLine(json document: some Encodable) throws {
            let encoder = JSONEncoder.pushwatch
            encoder.outputFormatting.insert(.prettyPrinted)
            Terminal.printLine(String(decoding: try encoder.encode(document), as: UTF8.self))
        }

        func withDatabase(_ body: (PostgresPool, ServerConfiguration) async throws -> Void) async throws {
            LogBootstrap.bootstrap(level: .error)
            let configuration = try await configuration.load(database: database)
            let pool = PostgresPool(
                configuration: PostgresConfiguration(
                    url: configuration.databaseURL,
                    maxConnections: 4,
                    applicationName: "pushwatch alerts"
                ),
                logger: Logger(label: "alerts")
            )
            defer { pool.close() }
            do {
                try await body(pool, configuration)
            } catch let error as PostgresError where error.isUnavailable {
                throw CommandFailure.environment("The database cannot be reached: \(error.message)")
            } catch let error as PostgresError where error.code == .undefinedTable {
                throw CommandFailure.check("The database has no schema yet. Run `pushwatch migrate`.")
            } catch let problem as Problem {
                throw CommandFailure(message: problem.detail, code: 2)
            }
        }

        /// The alert whose id is, or begins with, `text`.
        func alert(_ text: String, on pool: PostgresPool) async throws -> Alert {
            let found = try await AlertStore.find(prefix: text, on: pool)
            guard let first = found.first else { throw CommandFailure.check("There is no alert with the id `\(text)`.") }
            guard found.count == 1 else { throw CommandFailure(message: "More than one alert begins with `\(text)`.", code: 2) }
            return first
        }
    }
}
