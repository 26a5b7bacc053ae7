import HTTPServer
import ServiceLifecycle

/// The first to hear of a shutdown: `/health/ready` says `draining` from then on, and everything else goes on for the time that balancers
/// take to see it. Then the listeners close.
struct DrainSignal: Service {
    let health: Health
    let duration: Duration

    func run() async throws {
        try await gracefulShutdown()
        if health.markDraining() { try await Task.sleep(for: duration) }
    }
}
