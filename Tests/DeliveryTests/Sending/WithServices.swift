import ServiceLifecycle
import TestDatabase

/// Runs services while `body` works, and ends them.
func withServices(_ services: [any Service], _ body: @Sendable @escaping () async throws -> Void) async throws {
    let group = ServiceGroup(configuration: .init(services: services, logger: .silent))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        do {
            try await body()
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
    }
}
