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

    /// Every row of the mapping table: status, reason, bucket, retry, token.
    static let rows: [(Int, String?, Classification)] = [
        (410, "Unregistered", Classification(.tokenNotRegistered, retry: .never, token: .deactivate)),
        (410, "ExpiredToken", Classification(.tokenNotRegistered, retry: .never, token: .deactivate)),
        (410, nil, Classification(.tokenNotRegistered, retry: .never, token: .suspect)),
        (400, "BadDeviceToken", Classification(.tokenInvalid, retry: .never, token: .suspect)),
        (400, "DeviceTokenNotForTopic", Classification(.tokenInvalid, retry: .never, token: .suspect)),
        (400, "MissingDeviceToken", Classification(.unknown, retry: .never)),
        (404, "BadPath", Classification(.unknown, retry: .never)),
        (405, "MethodNotAllowed", Classification(.unknown, retry: .never)),
        (400, "DuplicateHeaders", Classification(.unknown, retry: .never)),
        (400, "BadCollapseId", Classification(.unknown, retry: .never)),
        (400, "BadExpirationDate", Classification(.unknown, retry: .never)),
        (400, "BadMessageId", Classification(.unknown, retry: .never)),
        (400, "BadPriority", Classification(.unknown, retry: .never)),
        (400, "InvalidPushType", Classification(.unknown, retry: .never)),
        (400, "PayloadEmpty", Classification(.unknown, retry: .never)),
        (413, "PayloadTooLarge", Classification(.unknown, retry: .never)),
        (400, "BadTopic", Classification(.auth, retry: .afterFix)),
        (400, "MissingTopic", Classification(.auth, retry: .afterFix)),
        (400, "TopicDisallowed", Classification(.auth, retry: .afterFix)),
        (403, "ExpiredProviderToken", Classification(.auth, retry: .now)),
        (403, "InvalidProviderToken", Classification(.auth, retry: .afterFix)),
        (403, "MissingProviderToken", Classification(.auth, retry: .afterFix)),
        (403, "Forbidden", Classification(.auth, retry: .afterFix)),
        (403, "BadCertificate", Classification(.auth, retry: .afterFix)),
        (403, "BadCertificateEnvironment", Classification(.auth, retry: .afterFix)),
        (403, "UnrelatedKeyIdInToken", Classification(.auth, retry: .afterFix)),
        (403, "BadEnvironmentKeyIdInToken", Classification(.auth, retry: .afterFix)),
        (403, "SomethingNew", Classification(.auth, retry: .afterFix)),
        (429, "TooManyProviderTokenUpdates", Classification(.auth, retry: .backoff)),
        (429, "TooManyRequests", Classification(.unknown, retry: .backoff)),
        (500, "InternalServerError", Classification(.provider5xx, retry: .backoff)),
        (503, "ServiceUnavailable", Classification(.provider5xx, retry: .backoff)),
        (503, "Shutdown", Classification(.provider5xx, retry: .now)),
        (400, "IdleTimeout", Classification(.network, retry: .now)),
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
        "an odd timestamp, an odd body, or a timestamp beside another status is not believed",
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
