import Alerting
import Delivery
import Foundation
import HTTPServer
import Logging
import Postgres
import ProviderSimulator
import Server
import ServiceLifecycle
import TestDatabase
import TestSupport

/// A server in this process, with what a test needs to use it.
struct RunningServer: Sendable {
    static let bootstrapKey = "integration-tests-bootstrap-key"

    let api: API
    let issuer: UserIssuer
    let simulator: ProviderSimulator
    let pool: PostgresPool
    let directory: String
    let database: String

    var url: String { api.url }

    /// The API as an app user sees it.
    func asUser(_ userId: String) throws -> API { api.with(bearer: try issuer.token(userId: userId)) }
}

/// The server as a service, so that a test can end it as a supervisor would.
struct ServerService: Service {
    let server: PushwatchServer

    func run() async throws { try await server.run(gracefulShutdownSignals: []) }
}

/// Runs a configured server in this process as long as `body` takes.
func withServer<Value: Sendable>(
    _ configuration: ServerConfiguration,
    hooks: PushwatchServer.Hooks = PushwatchServer.Hooks(),
    logger: Logger = .silent,
    _ body: (_ url: String) async throws -> Value
) async throws -> Value {
    let (urls, listening) = AsyncStream<String>.makeStream()
    var hooks = hooks
    hooks.onListening = { listening.yield($0) }
    let server = PushwatchServer(configuration: configuration, metrics: MetricsRegistry(), hooks: hooks, logger: logger)
    let group = ServiceGroup(
        configuration: .init(
            services: [.init(service: ServerService(server: server), successTerminationBehavior: .gracefullyShutdownGroup)],
            logger: .silent
        )
    )
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask {
            defer { listening.finish() }
            try await group.run()
        }
        var iterator = urls.makeAsyncIterator()
        guard let url = await iterator.next() else {
            try await tasks.waitForAll()
            throw NeverHappened(description: "the server ended before it listened")
        }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(url))
        } catch {
            result = .failure(error)
        }
        await group.triggerGracefulShutdown()
        do {
            try await tasks.waitForAll()
        } catch {
            // What broke the test says more than how the server ended.
            _ = try result.get()
            throw error
        }
        return try result.get()
    }
}

/// The whole server against a database of its own and the provider simulator.
func withServer<Value: Sendable>(
    adjust: (inout ServerConfiguration) -> Void = { _ in },
    hooks: PushwatchServer.Hooks = PushwatchServer.Hooks(),
    _ body: (RunningServer) async throws -> Value
) async throws -> Value {
    try await withDatabaseURL { database in
        try await withTestDirectory { directory in
            try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { simulator, endpoints in
                let issuer = try UserIssuer(directory: directory)
                var configuration = try ServerConfiguration.forTests(database, simulator, endpoints, directory: directory)
                configuration.users = .init(issuer: UserIssuer.issuer, audience: nil, jwks: issuer.jwksPath)
                adjust(&configuration)
                let pool = PostgresPool(configuration: PostgresConfiguration(url: database, maxConnections: 2), logger: .silent)
                defer { pool.close() }
                return try await withServer(configuration, hooks: hooks) { url in
                    let api = API(url: url, bearer: RunningServer.bootstrapKey)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    return try await body(
                        RunningServer(api: api, issuer: issuer, simulator: simulator, pool: pool, directory: directory, database: database)
                    )
                }
            }
        }
    }
}

extension ServerConfiguration {
    /// Without providers and users.
    static func bare(_ database: String) -> ServerConfiguration {
        var configuration = ServerConfiguration(databaseURL: database)
        configuration.migrationsDirectory = ProjectDirectory.migrations
        configuration.alertsDirectory = ProjectDirectory.alerts
        configuration.httpPort = 0
        configuration.bootstrapKey = RunningServer.bootstrapKey
        // The same for every server of a test: several may share a database.
        configuration.tokenKeys = TestTokenKeys.keySet
        configuration.sendRetryBase = .milliseconds(50)
        return configuration
    }

    static func forTests(
        _ database: String,
        _ simulator: ProviderSimulator,
        _ endpoints: SimulatorEndpoints,
        directory: String
    ) throws -> ServerConfiguration {
        let files = try ProviderFiles(simulator, endpoints, directory: directory)
        var configuration = bare(database)
        configuration.providersCAFile = endpoints.caFile
        configuration.apns = .init(
            teamId: simulator.credentials.apns.teamId,
            keyId: simulator.credentials.apns.keyId,
            keyFile: files.apnsKey,
            productionURL: endpoints.apnsURL,
            sandboxURL: endpoints.apnsURL
        )
        configuration.fcm = .init(serviceAccountFile: files.serviceAccount, url: endpoints.fcmURL)
        return configuration
    }
}
