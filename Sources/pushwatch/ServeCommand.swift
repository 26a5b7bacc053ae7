import ArgumentParser
import CommandLineKit
import Foundation
import HTTPServer
import Logging
import Postgres
import Server

/// `pushwatch serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the service against your PostgreSQL.",
        discussion: """
            Stateless: run any number of instances on one database. On SIGTERM, SIGINT or SIGHUP an instance finishes its requests and \
            deliveries, and exits with 0 within 30 s, after http.drainSeconds. It serves what it is configured for; the local installation in .pushwatch does not count.

            Settings, in the environment or (dotted, without PUSHWATCH_) in the YAML file:
            \(ConfigurationOptions.table)
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Option(
        name: .long,
        parsing: .singleValue,
        help: "What this instance does: api, send, alert, live; repeatable or separated by commas. Default: everything."
    )
    var role: [String] = []
    @Flag(help: "Apply missing migrations before the start.") var migrate = false

    func validate() throws { _ = try roles() }

    func run() async throws {
        var configuration = try await options.load(local: false)
        configuration.roles = try roles()
        let metrics = ProcessSetup.begin(level: configuration.logLevel, format: configuration.logFormat)
        var hooks = PushwatchServer.Hooks()
        hooks.migrates = migrate
        let logger = Logger(label: "pushwatch")
        hooks.onListening = { url in logger.notice("listening", metadata: ["url": "\(url)"]) }
        do {
            try requireSettings(configuration)
            try await PushwatchServer(configuration: configuration, metrics: metrics, hooks: hooks, logger: logger).run()
        } catch {
            throw reason(error, format: configuration.logFormat, logger)
        }
    }

    /// Why it ends: in the log's own format where that is JSON, whose readers parse every line.
    private func reason(_ error: any Error, format: String, _ logger: Logger) -> any Error {
        let failure = (error as? MigrationError).map { CommandFailure.environment($0.message) } ?? CommandFailure(error)
        guard let failure else { return error }
        return failure.logged(format: format, logger)
    }

    /// A setting that is missing is wrong usage, as a database that is not configured.
    private func requireSettings(_ configuration: ServerConfiguration) throws {
        do throws(ConfigurationError) {
            _ = try configuration.tokenCipher()
            try configuration.requirePublicURL()
        } catch {
            throw CommandFailure.usage(error.description)
        }
    }

    private func roles() throws -> Set<ServerConfiguration.Role> {
        let names = role.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        if names.isEmpty { return Set(ServerConfiguration.Role.allCases) }
        return try Set(
            names.map { name in
                guard let role = ServerConfiguration.Role(rawValue: name) else {
                    let known = ServerConfiguration.Role.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("--role: unknown role \"\(name)\"; expected \(known).")
                }
                return role
            }
        )
    }
}
