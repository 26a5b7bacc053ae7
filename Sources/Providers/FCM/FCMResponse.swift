import HTTPClient
import PushContract
import ServiceKit

/// An answer of FCM to `messages:send`, and its meaning.
struct FCMResponse: Sendable, Hashable {
    var status: Int
    /// `FcmError.errorCode`, from whichever of the details has it.
    var errorCode: String?
    /// `error.status`, such as `NOT_FOUND`.
    var errorStatus: String?
    var message: String?
    /// `BadRequest.fieldViolations[].field`.
    var fields: [String] = []
    /// `QuotaFailure.violations[].subject`.
    var quotaSubjects: [String] = []
    /// The message's name after success.
    var name: String?
    var retryAfter: Duration?

    init(status: Int) { self.status = status }

    /// Reads an answer: every entry of `details`, in any order. Without FCM's JSON in the body (a 502 is HTML) only the status counts.
    init(_ response: OutboundResponse, now: Timestamp) {
        self.init(status: response.status)
        retryAfter = RetryAfter.wait(response.header("retry-after"), now: now, longest: .seconds(86_400))
        guard let body = try? JSONParser.read(response.body) else { return }
        name = body["name"]?.string
        let error = body["error"]
        errorStatus = error?["status"]?.string
        message = error?["message"]?.string
        for detail in error?["details"]?.elements ?? [] { read(detail, longest: .seconds(86_400)) }
    }

    private mutating func read(_ detail: JSONValue, longest: Duration) {
        let type = detail["@type"]?.string ?? ""
        if type.hasSuffix("google.firebase.fcm.v1.FcmError") { errorCode = detail["errorCode"]?.string ?? errorCode }
        if type.hasSuffix("google.rpc.BadRequest") {
            fields += (detail["fieldViolations"]?.elements ?? []).compactMap { $0["field"]?.string }
        }
        if type.hasSuffix("google.rpc.RetryInfo"), let delay = detail["retryDelay"]?.string.flatMap(FCMResponse.duration) {
            retryAfter = min(max(retryAfter ?? .zero, delay), longest)
        }
        if type.hasSuffix("google.rpc.QuotaFailure") {
            quotaSubjects += (detail["violations"]?.elements ?? []).compactMap { $0["subject"]?.string }
        }
    }

    /// A `google.protobuf.Duration` as JSON: seconds with up to nine decimals, such as `1.5s`.
    private static func duration(_ text: String) -> Duration? {
        guard text.hasSuffix("s"), let seconds = Double(text.dropLast()), seconds >= 0, seconds.isFinite else { return nil }
        return .seconds(min(seconds, 1e9))
    }

    /// FCM refused our access token. A 401 with an `FcmError` concerns the project's APNs or web push key instead.
    var isAccessTokenRefused: Bool { status == 401 && errorCode == nil }

    /// Whether the token is the invalid field of the request.
    var namesToken: Bool { fields.contains { $0 == "message.token" || $0 == "message.fid" } }

    /// An argument is invalid and no field is named: payload or token.
    var isAmbiguous: Bool { status == 400 && (errorCode ?? errorStatus) == "INVALID_ARGUMENT" && fields.isEmpty }

    /// The outcome of the answered attempt.
    func outcome(latency: Duration, target: PushTarget) -> PushOutcome {
        if status == 200 { return .sent(messageId: name, httpStatus: status, latency: latency) }
        let code = errorCode ?? errorStatus
        var outcome = PushOutcome.failed(
            // A payload fault often has no FcmError; its status and field violation replace it.
            ReasonMapping.fcm(status: status, errorCode: errorCode ?? argumentFault, namesToken: namesToken),
            code: code,
            detail: target.redacting(detail(code)),
            httpStatus: status,
            latency: latency
        )
        outcome.refusalScope = .fcm(status: status, errorCode: errorCode ?? argumentFault, quotaSubjects: quotaSubjects)
        // Google, "FCM ErrorCode": wait a minute after a 429 without Retry-After.
        outcome.retryAfter = retryAfter ?? (status == 429 ? .seconds(60) : nil)
        return outcome
    }

    private var argumentFault: String? { status == 400 && errorStatus == "INVALID_ARGUMENT" ? errorStatus : nil }

    private func detail(_ code: String?) -> String {
        var detail = "FCM answered \(status)\(code.map { " \($0)" } ?? " without an error code")"
        if !fields.isEmpty { detail += ", field \(fields.joined(separator: ", "))" }
        if !quotaSubjects.isEmpty { detail += ", quota \(quotaSubjects.joined(separator: ", "))" }
        if let message, message != code { detail += ": \(message)" }
        return detail
    }
}
