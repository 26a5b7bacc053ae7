import Delivery
import Logging
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("The log of deliveries")
struct DispatchLogTests {
    @Test("each try is a line with the requestId of the request it came of, and with the id of its row")
    func requestId() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.register("ann", "tablet", token: SendingBench.token(2))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann"}"#)
            let log = RecordingLog { $0.message == "a delivery was tried" }
            try await bench.dispatcher(ScriptedProvider().lookup, logger: log.logger).runUntilIdle()
            let rows = try await bench.pool.query(
                "SELECT attemptId FROM notificationDeliveryAttempts WHERE eventType = 'send' AND requestId = 'request-1'"
            )
            let attemptIds = Set(try rows.map { try $0.decode(String.self) })
            #expect(attemptIds.count == 2)
            #expect(Set(log.events.compactMap { $0.metadata?["attemptId"].map { "\($0)" } }) == attemptIds)
            #expect(log.events.allSatisfy { $0.metadata?["requestId"] == "request-1" && $0.metadata?["status"] == "sent" })
        }
    }
}
