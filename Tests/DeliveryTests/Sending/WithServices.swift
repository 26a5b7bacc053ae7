import ServiceKit
import ServiceLifecycle
import TestDatabase

/// Runs services while `body` works, and ends them.
///
/// - Parameter deadline: of the requests that `body` makes.
func withServices(
    _ services: [any Service],
    within deadline: WorkDeadline? = nil,
    _ body: @Sendable @escaping () async throws -> Void
) async throws {
    let group = ServiceGroup(configuration: .init(services: services, logger: .silent))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        do {
            try await WorkDeadline.$current.withValue(deadline) { try await body() }
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
    }
}
