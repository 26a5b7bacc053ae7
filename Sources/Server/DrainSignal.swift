import HTTPServer
import Logging
import ServiceLifecycle

/// The first service that a shutdown reaches: `/health/ready` says `draining` from then on, and everything else goes on for the time that
/// balancers take to see it. Then the listeners close.
struct DrainSignal: Service {
    let health: Health
    let duration: Duration
    let logger: Logger

    func run() async throws {
        try await gracefulShutdown()
        let drain = health.markDraining() ? duration : .zero
        logger.notice("ending", metadata: ["drainSeconds": "\(drain.components.seconds)"])
        try await Task.sleep(for: drain)
    }
}
