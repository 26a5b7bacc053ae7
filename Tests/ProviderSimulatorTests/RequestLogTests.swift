import PushContract
import Testing

@testable import ProviderSimulator

@Suite("Request log")
struct RequestLogTests {
    @Test("keeps the newest, counts all")
    func bounded() {
        var log = RequestLog(capacity: 3)
        for index in 1...5 { log.add(entry("t\(index)", connection: "c\(index % 2)"), label: index == 5 ? "410 Unregistered" : "200") }
        #expect(log.kept.map(\.token) == ["t3", "t4", "t5"])
        #expect(log.kept.map(\.number) == [3, 4, 5])
        #expect(log.statistics.total == 5)
        #expect(log.statistics.kept == 3)
        #expect(log.statistics.count(.apns, "200") == 4)
        #expect(log.statistics.count(.apns, "410 Unregistered") == 1)
        #expect(log.statistics.connections == ["apns": 2])
    }

    @Test("removing forgets counts too")
    func removal() {
        var log = RequestLog(capacity: 3)
        log.add(entry("t", connection: "c"), label: "200")
        log.removeAll()
        #expect(log.kept.isEmpty)
        #expect(log.statistics == SimulatorStatistics(total: 0, kept: 0, answers: [:], connections: [:]))
    }

    private func entry(_ token: String, connection: String) -> RecordedRequest {
        RecordedRequest(
            number: 0,
            at: noon,
            provider: .apns,
            connection: connection,
            method: "POST",
            path: "/",
            token: token,
            headers: [],
            body: "",
            status: 200,
            reason: nil,
            answerHeaders: [],
            answerBody: "",
            fault: false
        )
    }
}
