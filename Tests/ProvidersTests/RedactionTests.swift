import HTTPClient
import PushContract
import Testing

@testable import Providers

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
            ("Bad abc.123/x=!", "abc.123/x=", "Bad (token)!"),
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

    @Test("a code that no provider has is short and without control characters before it is stored; a token is removed before the cut")
    func unknownCodes() {
        let token = String(repeating: "5a", count: 32)
        let body = #"{"reason":"\u0001\u0085\n\#(String(repeating: "é ", count: 90))\#(token) \#(String(repeating: "x ", count: 900))"}"#
        let response = OutboundResponse(status: 410, headers: [("apns-id", "id-\(token)")], body: Array(body.utf8))
        let outcome = APNsResponse(response, now: Samples.moment).outcome(latency: .zero)
        let code = outcome.providerErrorCode ?? ""
        #expect(code.hasPrefix("\u{FFFD}\u{FFFD}\u{FFFD}é é"))
        #expect(code.unicodeScalars.count == 200 && !code.contains("5a5a"))
        #expect(outcome.detail.count <= 500 && !outcome.detail.contains("5a5a"))
        #expect(outcome.providerMessageId == "(token)")
    }

    @Test("a message's id that repeats the token is removed after success too")
    func acceptedId() {
        var outcome = PushOutcome.sent(messageId: "projects/p/messages/abc123", httpStatus: 200, latency: .zero)
        outcome.removeTokens("abc123")
        #expect(outcome.providerMessageId == "projects/p/messages/(token)")
    }

    @Test("ids of channels that no request can name are left out")
    func channelIds() {
        let response = OutboundResponse(status: 200, body: Array(#"{"channels":["dHN0","","\u0001","é",7]}"#.utf8))
        #expect(APNsChannelRequest.ids(in: response) == ["dHN0"])
    }
}
