import ArgumentParser
import CommandLineKit
import Foundation
import HTTPServer
import Logging
import ProviderSimulator
import ServiceLifecycle
import UnixSignals

/// `pushwatch-dev simulate`
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Run the provider simulator: APNs, FCM and Google's token endpoint over real TLS and HTTP/2.",
        discussion: """
            It checks what Apple and Google check, and responds as they do. At the start it creates a certificate authority, a signing key \
            and a service account; the settings it prints point Pushwatch at them.

            Set at run time which share of requests gets which response:
              curl -X PUT http://127.0.0.1:PORT/faults -d '[{"provider":"fcm","share":0.2,"answer":{"status":503}}]'
            """
    )

    @Option(help: "Port of APNs; 0 takes a free one.") var apnsPort = 0
    @Option(help: "Port of FCM and the token endpoint; 0 takes a free one.") var fcmPort = 0
    @Option(help: "Port of the control endpoint (plain HTTP, loopback); 0 takes a free one.") var controlPort = 0
    @Option(help: "Where the certificates and credentials are written.") var directory = ".pushwatch-simulator"

    func run() async throws {
        LogBootstrap.bootstrap(level: .notice)
        var configuration = SimulatorConfiguration(directory: directory)
        configuration.apnsPort = apnsPort
        configuration.fcmPort = fcmPort
        configuration.controlPort = controlPort
        configuration.credentials = try SimulatorCredentials.kept(in: directory)
        let simulator = try ProviderSimulator(configuration: configuration, logger: Logger(label: "simulator"))
        let group = ServiceGroup(
            services: [simulator],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "simulate")
        )
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let endpoints = try await simulator.ready()
            describe(endpoints, try SimulatorFiles(simulator.credentials, endpoints: endpoints, directory: directory))
            try await tasks.waitForAll()
        }
    }

    private func describe(_ endpoints: SimulatorEndpoints, _ files: SimulatorFiles) {
        Terminal.printLine(
            """
            The provider simulator is ready.

              APNs      \(endpoints.apnsURL)
              FCM       \(endpoints.fcmURL)
              control   \(endpoints.controlURL)   PUT /faults, GET /requests, GET /stats

            Settings for Pushwatch:
              PUSHWATCH_PROVIDERS_CA_FILE=\(endpoints.caFile)
              PUSHWATCH_APNS_PRODUCTION_URL=\(endpoints.apnsURL)
              PUSHWATCH_APNS_SANDBOX_URL=\(endpoints.apnsURL)
              PUSHWATCH_APNS_TEAM_ID=\(files.teamId)
              PUSHWATCH_APNS_KEY_ID=\(files.keyId)
              PUSHWATCH_APNS_KEY_FILE=\(files.apnsKey)
              PUSHWATCH_FCM_URL=\(endpoints.fcmURL)
              PUSHWATCH_FCM_SERVICE_ACCOUNT_FILE=\(files.serviceAccount)
            """
        )
    }
}
