import CommandLineKit
import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// A receiver of alerts on this machine. For the demo it prints what it gets, in a few lines a person can read.
struct WebhookSink: Service {
    private let application: Application<RouterResponder<BasicRequestContext>>
    private let port: AsyncStream<Int>

    init(logger: Logger, take: @escaping @Sendable (Data) -> Void = Self.show) {
        let router = Router()
        router.post("alerts") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            take(Data(body.readableBytesView))
            return HTTPResponse.Status.ok
        }
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        port = stream
        application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0), serverName: nil),
            onServerRunning: { channel in
                continuation.yield(channel.localAddress?.port ?? 0)
                continuation.finish()
            },
            logger: logger
        )
    }

    func run() async throws { try await application.run() }

    /// Where alerts are to be posted; waits until the sink listens.
    func url() async -> String {
        for await port in port { return "http://127.0.0.1:\(port)/alerts" }
        return ""
    }

    private struct WebhookBody: Decodable {
        struct ReceivedAlert: Decodable {
            var status: String
            var labels: [String: String]
            var annotations: [String: String]
            var startsAt: String
            var generatorURL: String
        }

        var receiver: String
        var alerts: [ReceivedAlert]
    }

    private static func show(_ body: Data) {
        guard let payload = try? JSONDecoder().decode(WebhookBody.self, from: body) else {
            Terminal.printLine("── a delivery arrived that is not an Alertmanager webhook body (\(body.count) bytes)")
            return
        }
        for alert in payload.alerts {
            Terminal.printLine(
                """
                ── ALERT DELIVERED  \(alert.status.uppercased())  \(alert.labels["alertname"] ?? "?")  severity \(alert.labels["severity"] ?? "?")
                   \(alert.annotations["summary"] ?? "")
                   since \(alert.startsAt)
                   do: \(alert.annotations["action"] ?? "")
                   \(alert.generatorURL)
                """
            )
        }
    }
}
