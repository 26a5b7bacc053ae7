import ArgumentParser
import Foundation
import Server

/// `--config`, and errors of configuration as errors of usage.
struct ConfigurationOptions: ParsableArguments {
    @Option(name: .long, help: "YAML file with settings; PUSHWATCH_… in the environment goes before it.") var config: String?

    /// `database`: goes before the configured one.
    func load(database: String? = nil) async throws -> ServerConfiguration {
        do {
            var environment = ProcessInfo.processInfo.environment
            if let database { environment[ConfigurationKey.databaseURL.environmentName] = database }
            var configuration = try await ServerConfiguration.load(file: config, environment: environment)
            configuration.migrationsDirectory = ProjectFiles.nextToProgram(configuration.migrationsDirectory)
            configuration.alertsDirectory = ProjectFiles.nextToProgram(configuration.alertsDirectory)
            configuration.liveDirectory = ProjectFiles.nextToProgram(configuration.liveDirectory)
            return configuration
        } catch let error as ConfigurationError {
            throw CommandFailure(message: error.description, code: 2)
        }
    }

    /// For `--help`: every setting with its environment name.
    static var table: String {
        ConfigurationKey.all.map { key in
            let standard = key.standard.isEmpty ? "" : " (default: \(key.standard))"
            return "  \(key.environmentName)\n      \(key.meaning)\(standard)"
        }.joined(separator: "\n")
    }
}
