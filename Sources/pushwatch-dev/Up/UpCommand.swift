import Access
import ArgumentParser
import CommandLineKit
import Foundation
import HTTPServer
import LocalPostgres
import Logging
import Postgres
import ProviderSimulator
import PushContract
import Server
import ServiceLifecycle
import UnixSignals

/// `pushwatch-dev up`
struct UpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Start everything on this machine: database, service, provider simulator, demo traffic.",
        discussion: """
            Nothing outside the state directory is changed. Ctrl-C stops everything; the next start continues with the same data. Delete the \
            state directory to start from nothing.
            """
    )

    @Option(help: "Port to listen on; without it 8080, or a free one if that is taken.") var port: Int?
    @Option(help: "The state directory: database, keys and settings of this installation.") var state = LocalSettings.directoryName
    @Flag(help: "Fewer demo sends, and slower matches.") var quietTraffic = false
    @Flag(help: "No demo history, devices, traffic or matches.") var empty = false
    @Flag(help: "Show the service's own log.") var verbose = false

    func validate() throws {
        guard (0...65_535).contains(port ?? 0) else { throw ValidationError("--port must be from 0 to 65535.") }
    }

    func run() async throws {
        let metrics = ProcessSetup.begin(level: verbose ? .info : .error, format: "auto")
        let logger = Logger(label: "pushwatch")
        let directory = try StateDirectory.prepare(state)
        Terminal.printError("Starting PostgreSQL in \(directory) …")
        let postgres = try await interruptible { try await startPostgres(in: directory, logger: logger) }
        do {
            let installation = try await interruptible {
                try await LocalInstallation.prepare(directory: directory, postgres: postgres, empty: empty, logger: logger)
            }
            try await serve(installation, metrics: metrics, logger: logger)
        } catch {
            await postgres.stop()
            throw error
        }
        Terminal.printError("Stopping …")
        await postgres.stop()
    }

    private func startPostgres(in directory: String, logger: Logger) async throws -> LocalPostgres {
        do {
            return try await LocalPostgres.start(LocalPostgresConfiguration(directory: directory + "/postgres"), logger: logger)
        } catch let error as LocalPostgresError {
            throw CommandFailure.environment(error.message)
        }
    }

    private func serve(_ installation: LocalInstallation, metrics: MetricsRegistry, logger: Logger) async throws {
        var simulation = SimulatorConfiguration(directory: installation.directory)
        simulation.credentials = try SimulatorCredentials.kept(in: installation.directory)
        // A request is 2 KB: the default would grow by 20 MB over the first hours.
        simulation.keptRequests = 1_000
        let simulator = try ProviderSimulator(configuration: simulation, logger: logger)
        let sink = WebhookSink(logger: logger)
        if !empty { simulator.setFaults([FaultRule(.fcm, status: 503, reason: "UNAVAILABLE", share: 0.35)]) }
        let localServices = ServiceGroup(services: [simulator, sink], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await localServices.run() }
            let run = LocalRun(
                installation: installation,
                endpoints: try await simulator.ready(),
                credentials: simulator.credentials,
                sinkURL: await sink.url(),
                port: listeningPort(),
                simulator: simulator,
                demo: empty ? nil : quietTraffic ? .quiet : .full
            )
            try await run.server(metrics: metrics, logger: logger).run()
            await localServices.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    /// Chosen before the listener is bound, since links in alerts contain it.
    private func listeningPort() -> Int {
        if let port, port != 0 { return port }
        if port == nil, LoopbackPort.isFree(8080) { return 8080 }
        return LoopbackPort.anyFree() ?? 0
    }

    /// Before the service group listens for signals: Ctrl-C cancels what is under way, and what was started is stopped.
    private func interruptible<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: [.sigint, .sigterm]) {
                    throw CommandFailure(message: "Interrupted.", code: 130)
                }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() { if let result { return result } }
            throw CancellationError()
        }
    }
}
