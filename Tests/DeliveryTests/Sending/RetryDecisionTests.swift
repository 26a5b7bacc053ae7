import Delivery
import PushContract
import Testing

@Suite("RetryDecision")
struct RetryDecisionTests {
    static let now = Timestamp(seconds: 1_770_000_000)

    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var failure: RetryDecision.Failure
        var random = 1.0
        var lifetime = Duration.seconds(86_400)
        var policy = DeliveryPolicy.atLeastOnce
        /// Seconds until the retry; nil = see `ends`.
        var wait: Double?
        var ends: RetryDecision?

        var testDescription: String { name }
    }

    static func apns(_ status: Int, _ reason: String, _ attempt: Int = 1, retryAfter: Duration? = nil) -> RetryDecision.Failure {
        RetryDecision.Failure(
            classification: ReasonMapping.apns(status: status, reason: reason),
            provider: .apns,
            attemptNumber: attempt,
            isThrottled: status == 429,
            retryAfter: retryAfter
        )
    }

    static func fcm(_ status: Int, _ code: String?, _ attempt: Int = 1, retryAfter: Duration? = nil) -> RetryDecision.Failure {
        RetryDecision.Failure(
            classification: ReasonMapping.fcm(status: status, errorCode: code),
            provider: .fcm,
            attemptNumber: attempt,
            isThrottled: status == 429,
            retryAfter: retryAfter
        )
    }

    static func network(_ provider: Provider, _ attempt: Int = 1, unknown: Bool = false) -> RetryDecision.Failure {
        RetryDecision.Failure(
            classification: ReasonMapping.network,
            provider: provider,
            attemptNumber: attempt,
            isOutcomeUnknown: unknown
        )
    }

    static let cases: [Case] = [
        Case(name: "APNs 503, first", failure: apns(503, "ServiceUnavailable"), wait: 5),
        Case(name: "full jitter reaches down to nothing", failure: apns(503, "ServiceUnavailable"), random: 0, wait: 0),
        Case(name: "APNs 503, third", failure: apns(503, "ServiceUnavailable", 3), wait: 20),
        Case(name: "APNs 503 grows to Apple's 15 minutes and no further", failure: apns(503, "ServiceUnavailable", 40), wait: 900),
        Case(
            name: "Retry-After is never undercut",
            failure: apns(503, "ServiceUnavailable", retryAfter: .seconds(77)),
            random: 0,
            wait: 77
        ),
        Case(name: "Retry-After does not shorten", failure: apns(503, "ServiceUnavailable", 3, retryAfter: .seconds(1)), wait: 20),
        Case(name: "FCM waits ten seconds at least", failure: fcm(503, "UNAVAILABLE"), random: 0, wait: 10),
        Case(name: "FCM 500, first", failure: fcm(500, "INTERNAL"), wait: 20),
        Case(name: "Shutdown goes elsewhere at once", failure: apns(503, "Shutdown"), wait: 0),
        Case(name: "a second Shutdown waits", failure: apns(503, "Shutdown", 2), wait: 10),
        Case(name: "429 waits longer", failure: apns(429, "TooManyRequests"), random: 0, wait: 30),
        Case(name: "no connection", failure: network(.apns), wait: 1),
        Case(name: "FCM unanswered waits its ten seconds", failure: network(.fcm, unknown: true), random: 0, wait: 10),
        Case(name: "unanswered, at_most_once", failure: network(.apns, unknown: true), policy: .atMostOnce, ends: .giveUp(.network)),
        Case(name: "not written, at_most_once", failure: network(.apns), policy: .atMostOnce, wait: 1),
        Case(name: "credentials", failure: apns(403, "InvalidProviderToken"), random: 0, wait: 30),
        Case(name: "FCM 404 without FcmError waits for a fix", failure: fcm(404, nil), random: 0, wait: 30),
        Case(name: "a dead token", failure: apns(410, "Unregistered"), ends: .giveUp(.tokenNotRegistered)),
        Case(name: "a bad token", failure: apns(400, "BadDeviceToken"), ends: .giveUp(.tokenInvalid)),
        Case(name: "a payload at fault", failure: apns(413, "PayloadTooLarge"), ends: .giveUp(.unknown)),
        Case(name: "the retry would be too late", failure: apns(503, "ServiceUnavailable"), lifetime: .seconds(5), ends: .expired),
        Case(name: "the retry is just in time", failure: apns(503, "ServiceUnavailable"), lifetime: .seconds(5.001), wait: 5),
    ]

    @Test("the cause, the policy and the remaining lifetime decide whether and when a failed attempt is retried", arguments: cases)
    func table(_ test: Case) {
        let decision = RetryDecision.after(
            test.failure,
            policy: test.policy,
            now: Self.now,
            expiresAt: Self.now + test.lifetime,
            delays: RetryDelays(),
            random: test.random
        )
        let expected = test.ends ?? .retry(at: Self.now + .seconds(test.wait ?? -1))
        #expect(decision == expected)
    }
}
