import Providers
import PushContract
import Testing

@Suite("What a provider says holds no token")
struct RedactionTests {
    private func redacted(_ text: String, _ token: String) -> PushOutcome {
        var outcome = PushOutcome.failed(Classification(.unknown, retry: .never), code: text, detail: "answered " + text)
        outcome.removeTokens(token)
        return outcome
    }

    @Test(
        "the token that was sent to goes, in any case and with anything around it, and so does what has the shape of a token",
        arguments: [
            ("BadDeviceToken", "abc123", "BadDeviceToken"),
            ("Bad:ABC123!", "abc123", "(token)!"),
            ("Bad token <" + String(repeating: "5A", count: 32) + ">", "", "Bad token <(token)>"),
            ("x" + String(repeating: "5a", count: 31), "", "x" + String(repeating: "5a", count: 31)),
            ("no " + String(repeating: "cD-_:", count: 20) + ".", "", "no (token)."),
            ("größe " + String(repeating: "0f", count: 32), "", "größe (token)"),
        ]
    )
    func codes(text: String, token: String, expected: String) {
        let outcome = redacted(text, token)
        #expect(outcome.providerErrorCode == expected)
        #expect(outcome.detail == "answered " + expected)
    }
}
