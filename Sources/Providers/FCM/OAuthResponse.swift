import HTTPClient
import PushContract
import ServiceKit

/// An answer of Google's token endpoint.
enum OAuthResponse: Sendable, Hashable {
    case issued(token: String, lifetime: Duration)
    case refused(PushOutcome)

    /// The code of a refusal that names no error, such as the HTML page of a load balancer.
    static let failureCode = "TokenEndpointFailed"

    /// Reads an answer. A 200 without a token counts as a refusal.
    init(_ response: OutboundResponse, now: Timestamp) {
        let body = try? JSONParser.read(response.body)
        if response.status == 200, let token = body?["access_token"]?.string, PushValidation.isHeaderText(token) {
            let seconds = body?["expires_in"]?.integer ?? 3600
            self = .issued(token: token, lifetime: .seconds(min(max(seconds, 0), 86_400)))
            return
        }
        let error = body?["error"]?.string
        var outcome = PushOutcome.failed(
            ReasonMapping.oauth(status: response.status, error: error),
            code: error ?? OAuthResponse.failureCode,
            detail: "Google's token endpoint answered \(response.status)\(error.map { " \($0)" } ?? "")\(OAuthResponse.hint(error)).",
            httpStatus: response.status,
            latency: response.latency
        )
        outcome.refusalScope = ReasonMapping.isUnavailable(oauthStatus: response.status) ? .provider : .credential
        outcome.retryAfter = RetryAfter.wait(response.header("retry-after"), now: now, longest: .seconds(86_400))
        self = .refused(outcome)
    }

    private static func hint(_ error: String?) -> String {
        switch error {
        case "invalid_grant": ": the key was revoked, or this machine's clock is wrong"
        case "unauthorized_client": ": the service account may not ask for the firebase.messaging scope"
        default: ""
        }
    }
}
