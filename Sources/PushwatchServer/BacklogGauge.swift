import Alerting
import Logging
import Metrics
import PushContract
import Sending
import ServiceLifecycle

/// Keeps the queue's depth and age as metrics, for whoever scrapes us.
struct BacklogGauge: Service {
    let store: SendStore
    let logger: Logger

    private static let depth = Gauge(label: "pushwatch_sends_queue_depth")
    private static let age = Gauge(label: "pushwatch_sends_queue_oldest_seconds")

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                if let backlog = try? await store.backlog() {
                    BacklogGauge.depth.record(backlog.ready + backlog.retrying)
                    BacklogGauge.age.record(backlog.oldestReadyAt.map { (backlog.at - $0).inSeconds } ?? 0)
                }
                try await Task.sleep(for: .seconds(5))
            }
        }
    }
}
