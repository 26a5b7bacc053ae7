package import ArgumentParser
import Foundation
import HTTPServer
package import Logging
package import Postgres
package import Server

/// `--config` and `--database`, and errors of configuration as errors of usage.
package struct ConfigurationOptions: ParsableArguments {
    @Option(name: .long, help: "YAML file with settings; PUSHWATCH_… in the environment overrides it.") package var config: String?
    @Option(
        name: .long,
        help: "Connection string of the database. Default: the configured one, or that of the local installation in .pushwatch."
    )
    package var database: String?

    package init() {}

    /// - Parameter local: the local installation of the current directory counts where nothing else names a database.
    package func load(local: Bool = true) async throws -> ServerConfiguration {
        do {
            var environment = ProcessInfo.processInfo.environment
            if let database {
                for name in [ConfigurationKey.databaseURL.environmentName, ConfigurationKey.adminDatabaseURL.environmentName] {
                    environment[name] = database
                    environment[name + "_FILE"] = nil
                }
            }
            let file = config ?? (local ? localFile(environment) : nil)
            var configuration = try await ServerConfiguration.load(file: file, environment: environment, local: local)
            configuration.migrationsDirectory = ProjectFiles.nextToProgram(configuration.migrationsDirectory)
            configuration.alertsDirectory = ProjectFiles.nextToProgram(configuration.alertsDirectory)
            configuration.liveDirectory = ProjectFiles.nextToProgram(configuration.liveDirectory)
            return configuration
        } catch let error as ConfigurationError {
            guard !error.isUnreadableFile else { throw CommandFailure.environment(error.description) }
            throw CommandFailure.usage(error.description)
        }
    }

    private func localFile(_ environment: [String: String]) -> String? {
        let name = ConfigurationKey.databaseURL.environmentName
        guard environment[name] == nil, environment[name + "_FILE"] == nil else { return nil }
        let local = LocalSettings()
        return local.exists ? local.configurationFile : nil
    }

    /// For `--help`: every setting with its environment name.
    package static var table: String {
        ConfigurationKey.all.map { key in
            let standard = key.standard.isEmpty ? "" : " (default: \(key.standard))"
            return "  \(key.environmentName)\n      \(key.meaning)\(standard)"
        }.joined(separator: "\n")
    }
}

extension ConfigurationOptions {
    /// Runs `body` with a small pool on the database.
    ///
    /// - Parameter asOwner: for what the roles of instances may not do: with the address of `admin.database.url`, where it is set.
    package func withPool<Value>(
        connections: Int = 2,
        asOwner: Bool = false,
        logLevel: Logger.Level = .error,
        _ body: (PostgresPool, ServerConfiguration) async throws -> Value
    ) async throws -> Value {
        LogBootstrap.bootstrap(level: logLevel)
        let configuration = try await load()
        let url = asOwner ? configuration.adminDatabaseURL : configuration.databaseURL
        let pool = PostgresPool(
            configuration: configuration.postgres(url, maxConnections: connections, applicationName: "pushwatch"),
            logger: Logger(label: "pushwatch")
        )
        defer { pool.close() }
        return try await body(pool, configuration)
    }
}
