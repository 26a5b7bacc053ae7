import HTTPClient
import PushContract
import Testing

@testable import Providers

@Suite struct OAuthResponseTests {
    @Test("a token comes with its lifetime")
    func issued() {
        let body = Array(#"{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}"#.utf8)
        let answer = OAuthResponse(OutboundResponse(status: 200, body: body), now: Samples.moment)
        #expect(answer == .issued(token: "ya29.x", lifetime: .seconds(3599)))
    }

    @Test(
        "a refusal is about the credential, an outage is the provider's, and one that is too busy is like the network",
        arguments: [
            (400, #"{"error":"invalid_grant"}"#, ReasonCode.auth, RetryClass.afterFix, "invalid_grant"),
            (401, #"{"error":"unauthorized_client"}"#, .auth, .afterFix, "unauthorized_client"),
            (503, "<html></html>", .provider5xx, .backoff, "TokenEndpointFailed"),
            (429, "<html></html>", .network, .backoff, "TokenEndpointFailed"),
            (200, #"{"token_type":"Bearer"}"#, .auth, .afterFix, "TokenEndpointFailed"),
            (200, #"{"access_token":"a\u000d\u000ab"}"#, .auth, .afterFix, "TokenEndpointFailed"),
        ] as [(Int, String, ReasonCode, RetryClass, String)]
    )
    func refused(status: Int, body: String, reason: ReasonCode, retry: RetryClass, code: String) throws {
        let answer = OAuthResponse(OutboundResponse(status: status, body: Array(body.utf8)), now: Samples.moment)
        guard case .refused(let outcome) = answer else { throw Surprise() }
        #expect(outcome.reasonCode == reason)
        #expect(outcome.retryClass == retry)
        #expect(outcome.tokenAction == TokenAction.none)
        #expect(outcome.providerErrorCode == code)
    }

    struct Surprise: Error {}
}
