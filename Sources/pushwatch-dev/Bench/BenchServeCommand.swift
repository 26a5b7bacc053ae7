import ArgumentParser
import Attempts
import CommandLineKit
import Delivery
import Foundation
import HTTPServer
import Hummingbird
import Logging
import Metrics
import NIOCore
import Server

/// `pushwatch-dev bench serve`: the server under measurement, with one more route that does nothing. Ends with its standard input.
struct BenchServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve", shouldDisplay: false)
    static let noOpPath = "/bench/noop"
    /// The same at each start on one database.
    static let tokenKeys = "bench:" + Data(count: 32).base64EncodedString()

    @Option(name: .long) var database: String
    @Option(name: .long) var key: String
    /// Sends too, with the providers of the environment's settings.
    @Flag(name: .long) var sends = false

    func run() async throws {
        LogBootstrap.bootstrap(level: .error)
        let metrics = MetricsRegistry()
        MetricsSystem.bootstrap(metrics)
        var configuration = try await base()
        configuration.httpPort = 0
        configuration.bootstrapKey = key
        configuration.migrationsDirectory = try ProjectFiles.locate("sql/migrations")
        configuration.alertsDirectory = try ProjectFiles.locate("alerts")
        configuration.roles = sends ? [.api, .send] : [.api]
        configuration.tokenKeys = try TokenKeySet(parsing: Self.tokenKeys)
        var hooks = PushwatchServer.Hooks()
        hooks.migrates = true
        hooks.routes = { router in
            let bodies = BodyReader()
            router.post("bench/noop", .scope(.attemptsWrite)) { request, _ in
                _ = try await bodies.read(request)
                return Response(
                    status: .created,
                    headers: [.contentType: "application/json"],
                    body: .init(byteBuffer: ByteBuffer(string: "{}"))
                )
            }
        }
        hooks.onListening = { url in Terminal.printLine(url) }
        Thread.detachNewThread {
            // Not `readLine`: while it waits it holds a lock that the end of the process needs.
            while !FileHandle.standardInput.availableData.isEmpty {}
            Foundation.exit(0)
        }
        try await PushwatchServer(configuration: configuration, metrics: metrics, hooks: hooks, logger: Logger(label: "server")).run()
    }

    private func base() async throws -> ServerConfiguration {
        var environment = ProcessInfo.processInfo.environment
        guard sends else {
            var configuration = ServerConfiguration(databaseURL: database)
            configuration.ledgerFilters.directory = environment["PUSHWATCH_LEDGER_CACHE_DIRECTORY"]
            configuration.ledgerFilters.mostBytes = 64 << 30
            return configuration
        }
        environment["PUSHWATCH_DATABASE_URL"] = database
        return try await ServerConfiguration.load(file: nil, environment: environment)
    }
}
