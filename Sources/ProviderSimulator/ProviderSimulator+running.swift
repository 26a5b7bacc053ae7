package import Logging
import ServiceLifecycle

extension ProviderSimulator {
    /// Runs a simulator for as long as `body` takes, then stops it and waits until it has stopped.
    package static func running<Value: Sendable>(
        _ configuration: SimulatorConfiguration,
        logger: Logger = Logger(label: "simulator", factory: { _ in SwiftLogNoOpLogHandler() }),
        _ body: (ProviderSimulator, SimulatorEndpoints) async throws -> Value
    ) async throws -> Value {
        let simulator = try ProviderSimulator(configuration: configuration, logger: logger)
        let group = ServiceGroup(configuration: .init(services: [.init(service: simulator)], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(simulator, try await simulator.ready()))
            } catch {
                result = .failure(error)
            }
            await group.triggerGracefulShutdown()
            try? await tasks.waitForAll()
            return try result.get()
        }
    }
}
