import HTTPServer
import ServiceLifecycle

/// The first to hear of a shutdown: `/health/ready` says `draining` from then on, before the listener closes.
struct DrainSignal: Service {
    let health: Health

    func run() async throws {
        try await gracefulShutdown()
        health.markDraining()
    }
}
