import HTTPClient
import PushContract
import Testing

@testable import Providers

@Suite struct APNsResponseTests {
    @Test("an accepted push is sent, with its apns-id")
    func accepted() {
        let outcome = APNsResponse(
            OutboundResponse(status: 200, headers: [("apns-id", "abc")], latency: .milliseconds(7)),
            now: Samples.moment
        )
        .outcome(latency: .milliseconds(7))
        #expect(outcome == .sent(messageId: "abc", httpStatus: 200, latency: .milliseconds(7)))
        #expect(outcome.classification == nil)
    }

    /// Every row of the table of provider codes, and answers that are not in it: status, reason, meaning.
    static let rows: [(Int, String?, Classification)] =
        ProviderCode.table.filter { $0.source == .provider(.apns) }.compactMap { row in
            row.classification.map { (row.status, row.code, $0) }
        } + [
            (410, nil, Classification(.tokenNotRegistered, retry: .never, token: .suspect)),
            (403, "SomethingNew", Classification(.auth, retry: .afterFix)),
            (502, nil, Classification(.provider5xx, retry: .backoff)),
            (400, "SomethingNew", Classification(.unknown, retry: .never)),
            (500, "SomethingNew", Classification(.provider5xx, retry: .backoff)),
        ]

    @Test("a refusal means what the mapping table says", arguments: rows)
    func refused(status: Int, reason: String?, expected: Classification) {
        let body = reason.map { #"{"reason":"\#($0)"}"# } ?? ""
        let outcome = APNsResponse(OutboundResponse(status: status, body: Array(body.utf8)), now: Samples.moment).outcome(latency: .zero)
        #expect(outcome.status == .failed)
        #expect(outcome.classification == expected)
        #expect(outcome.providerErrorCode == reason)
        #expect(outcome.httpStatus == status)
        #expect(!outcome.outcomeUnknown)
        #expect(outcome.isThrottled == (status == 429))
    }

    @Test("a 410 carries since when the token is dead, from milliseconds")
    func deadSince() {
        let body = Array(#"{"reason":"Unregistered","timestamp":1789999999123}"#.utf8)
        let outcome = APNsResponse(OutboundResponse(status: 410, body: body), now: Samples.moment).outcome(latency: .zero)
        #expect(outcome.tokenInvalidSince == Timestamp(microseconds: 1_789_999_999_123_000))
    }

    @Test(
        "an odd timestamp, an odd body, or a timestamp with another status is ignored",
        arguments: [
            (410, #"{"reason":"Unregistered","timestamp":"yesterday"}"#), (410, #"{"reason":"Unregistered","timestamp":-1}"#),
            (410, #"{"reason":"Unregistered","timestamp":9223372036854775807}"#), (410, "<html>gone</html>"), (410, "[]"),
            (400, #"{"reason":"BadDeviceToken","timestamp":1789999999123}"#),
        ]
    )
    func oddTimestamp(status: Int, body: String) {
        let outcome = APNsResponse(OutboundResponse(status: status, body: Array(body.utf8)), now: Samples.moment).outcome(latency: .zero)
        #expect(outcome.tokenInvalidSince == nil)
    }

    @Test("Retry-After is passed on")
    func retryAfter() {
        let response = OutboundResponse(status: 503, headers: [("retry-after", "30")])
        #expect(APNsResponse(response, now: Samples.moment).outcome(latency: .zero).retryAfter == .seconds(30))
    }
}
