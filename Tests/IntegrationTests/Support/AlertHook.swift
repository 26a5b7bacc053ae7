import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization
import TestDatabase

/// A receiver of alerts over HTTP, which keeps what it got.
final class AlertHook: Sendable {
    struct Alert: Decodable, Sendable {
        var status: String
        var labels: [String: String]
        var annotations: [String: String]
        var startsAt: String
    }

    private struct Body: Decodable {
        var alerts: [Alert]
    }

    let url: String
    private let received: Received

    fileprivate final class Received: Sendable {
        let alerts = Mutex<[Alert]>([])
    }

    fileprivate init(url: String, received: Received) {
        self.url = url
        self.received = received
    }

    /// In the order they came.
    var alerts: [Alert] { received.alerts.withLock { $0 } }
    /// Those of one rule: an incident may concern several.
    func alerts(of rule: String) -> [Alert] { alerts.filter { $0.labels["alertname"] == rule } }

    fileprivate static func router(_ received: Received) -> Router<BasicRequestContext> {
        let router = Router()
        router.post("alerts") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            let delivery = try JSONDecoder().decode(Body.self, from: Data(body.readableBytesView))
            received.alerts.withLock { $0 += delivery.alerts }
            return HTTPResponse.Status.ok
        }
        return router
    }
}

func withAlertHook<Value: Sendable>(_ body: (AlertHook) async throws -> Value) async throws -> Value {
    let received = AlertHook.Received()
    return try await withRouter(AlertHook.router(received)) { try await body(AlertHook(url: $0 + "/alerts", received: received)) }
}

/// Serves a router on a free port for the time of `body`.
func withRouter<Context: RequestContext, Value: Sendable>(
    _ router: Router<Context>,
    _ body: (_ url: String) async throws -> Value
) async throws -> Value where Context.Source == ApplicationRequestContextSource {
    let (ports, listening) = AsyncStream<Int>.makeStream()
    let application = Application(
        router: router,
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { listening.yield($0.localAddress?.port ?? 0) },
        logger: .silent
    )
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await application.run() }
        defer { group.cancelAll() }
        var iterator = ports.makeAsyncIterator()
        return try await body("http://127.0.0.1:\(await iterator.next() ?? 0)")
    }
}
