import Alerting
import ArgumentParser
import CommandLineKit
import Postgres

/// `pushwatch alerts …`
struct AlertsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts",
        abstract: "See and acknowledge alerts, and test their receivers.",
        subcommands: [List.self, Show.self, Acknowledge.self, Test.self]
    )

    /// The alert whose id is, or begins with, `text`.
    static func alert(_ text: String, on pool: PostgresPool) async throws -> Alert {
        let found = try await AlertStore.find(prefix: text, on: pool)
        guard let first = found.first else {
            throw CommandFailure.check("No alert has the id `\(text)`; `pushwatch alerts list --all` lists them.")
        }
        guard found.count == 1 else { throw CommandFailure.usage("More than one alert begins with `\(text)`.") }
        return first
    }
}
