import HTTPServer
import HTTPTypes
import Hummingbird

/// `GET /health`, `GET /health/ready`, `GET /metrics`.
struct HealthRoutes: Sendable {
    let health: Health
    let metrics: MetricsRegistry
    let metricsOpen: Bool
    /// False at a listener for senders and apps alone.
    var showsMetrics = true

    struct Liveness: Encodable, Sendable { var status = "ok" }

    func add(to router: HTTPRouter) {
        router.get("/health", .open) { _, _ in JSONResponse(Liveness()) }
        router.get("/health/ready", .open) { _, _ in
            let readiness = await health.readiness()
            return JSONResponse(readiness, status: readiness.isReady ? .ok : .serviceUnavailable)
        }
        guard showsMetrics else { return }
        router.get("/metrics", metricsOpen ? .open : .scope(.metricsRead)) { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: MetricsRegistry.contentType],
                body: .init(byteBuffer: ByteBuffer(string: metrics.exposition()))
            )
        }
    }
}
