import AlertRules
import Alerting
import HTTPClient
import PushContract
import ServiceKit
import Testing

@Suite("What an answer means, and how long to wait")
struct NotificationDecisionTests {
    private let now = Timestamp(rfc3339: "2026-01-05T12:00:00Z")!

    @Test(
        "by status",
        arguments: [
            (200, ResponseVerdict.delivered), (204, .delivered), (408, .retry(after: nil)), (425, .retry(after: nil)),
            (429, .retry(after: nil)), (500, .retry(after: nil)), (503, .retry(after: nil)), (301, .deadLettered), (400, .deadLettered),
            (401, .deadLettered), (404, .deadLettered), (410, .deadLettered),
        ]
    )
    func status(_ status: Int, _ verdict: ResponseVerdict) {
        #expect(ResponseVerdict(status: status, retryAfter: nil, now: now) == verdict)
    }

    @Test(
        "Retry-After in seconds and as a date, cut at an hour",
        arguments: [
            ("30", Duration.seconds(30)), (" 5 ", .seconds(5)), ("86400", .seconds(3600)), ("Mon, 05 Jan 2026 12:01:30 GMT", .seconds(90)),
            ("Mon, 05 Jan 2026 11:00:00 GMT", .zero), ("soon", nil), ("-1", nil), ("", nil),
        ]
    )
    func retryAfter(_ header: String, _ wait: Duration?) {
        #expect(RetryAfter.wait(header, now: now, longest: .seconds(3600)) == wait)
    }

    @Test("from one second to five minutes, the upper half by lot, never before Retry-After")
    func backoff() {
        let waits = (1...12).map { OutboundBackoff.wait(failures: $0, retryAfter: nil, jitter: 1).components.seconds }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
        #expect(OutboundBackoff.wait(failures: 4, retryAfter: nil, jitter: 0) == .seconds(4))
        #expect(OutboundBackoff.wait(failures: 1, retryAfter: .seconds(90), jitter: 0.5) == .seconds(90))
    }
}
