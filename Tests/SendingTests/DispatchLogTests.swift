import Devices
import Logging
import Postgres
import PushContract
import Sending
import Synchronization
import Testing

/// Keeps what is said of deliveries.
private final class DeliveryLog: Sendable {
    private let kept = Mutex<[Logger.Metadata]>([])
    var lines: [Logger.Metadata] { kept.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: DeliveryLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard event.message == "a delivery was tried" else { return }
            log.kept.withLock { $0.append(event.metadata ?? [:]) }
        }
    }
}

private struct Accepting: DeliverySender {
    func send(_ delivery: ClaimedDelivery, to token: PushToken, permit: consuming TryPermit) async -> DeliveryResult {
        DeliveryResult(.accepted(providerMessageId: "m"))
    }

    func credential(for provider: Provider, app: String, environment: PushEnvironment) -> String { "key" }
}

@Suite("The log of deliveries")
struct DispatchLogTests {
    @Test("each try is a line with the requestId of the request it came of, and with the id of its row")
    func requestId() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.register("ann", "tablet", token: SendingBench.token(2))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann"}"#)
            let log = DeliveryLog()
            try await bench.dispatcher(Accepting(), logger: log.logger).runUntilIdle()
            let rows = try await bench.pool.query("SELECT attemptId FROM notificationDeliveryAttempts WHERE eventType = 'send'")
            let attemptIds = Set(try rows.map { try $0.decode(String.self) })
            #expect(attemptIds.count == 2)
            #expect(Set(log.lines.compactMap { $0["attemptId"].map { "\($0)" } }) == attemptIds)
            #expect(log.lines.allSatisfy { $0["requestId"] == "request-1" && $0["status"] == "sent" })
        }
    }
}
