import HTTPClient
import PushContract
import ServiceKit

/// An answer of APNs to `/3/device`, and its meaning.
struct APNsResponse: Sendable, Hashable {
    var status: Int
    /// From the body, unchanged.
    var reason: String?
    /// With 410: since when the token is invalid.
    var timestamp: Timestamp?
    var messageId: String?
    var retryAfter: Duration?

    init(status: Int, reason: String? = nil, timestamp: Timestamp? = nil, messageId: String? = nil, retryAfter: Duration? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.messageId = messageId
        self.retryAfter = retryAfter
    }

    /// Reads an answer. Without APNs' JSON in the body only the status counts.
    init(_ response: OutboundResponse, now: Timestamp) {
        let body = response.body.isEmpty ? nil : try? JSONParser.read(response.body)
        self.init(
            status: response.status,
            reason: body?["reason"]?.string,
            timestamp: body?["timestamp"]?.integer.flatMap(APNsResponse.moment),
            messageId: response.header("apns-id") ?? response.header("apns-request-id"),
            retryAfter: RetryAfter.wait(response.header("retry-after"), now: now, longest: .seconds(86_400))
        )
    }

    /// The outcome of the answered attempt.
    func outcome(latency: Duration) -> PushOutcome {
        if status == 200 { return .sent(messageId: messageId, httpStatus: status, latency: latency) }
        var outcome = PushOutcome.failed(
            ReasonMapping.apns(status: status, reason: reason),
            code: reason,
            detail: "APNs answered \(status)\(reason.map { " \($0)" } ?? " without a reason").",
            httpStatus: status,
            latency: latency
        )
        outcome.providerMessageId = ProviderText.messageId(messageId)
        outcome.retryAfter = retryAfter
        outcome.refusalScope = .apns(status: status, reason: reason)
        if status == 410 { outcome.tokenInvalidSince = timestamp }
        return outcome
    }

    /// A moment from milliseconds since 1970; nil if they are not positive or out of range.
    private static func moment(_ milliseconds: Int64) -> Timestamp? {
        let (microseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
        return overflow || milliseconds <= 0 ? nil : Timestamp(microseconds: microseconds)
    }
}
