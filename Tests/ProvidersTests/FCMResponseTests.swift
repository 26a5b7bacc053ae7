import HTTPClient
import PushContract
import Testing

@testable import Providers

@Suite struct FCMResponseTests {
    /// One refusal as Google words it.
    struct Row: Sendable, CustomTestStringConvertible {
        var status: Int
        var name: String?
        var code: String?
        var field: String?
        var expected: Classification
        var testDescription: String { "\(status) \(code ?? name ?? "bare") \(field ?? "")" }

        var body: [UInt8] {
            guard let name else { return Array("<html><title>Error</title></html>".utf8) }
            var details: [String] = []
            if let field {
                details.append(#"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(field)"}]}"#)
            }
            if let code {
                details.append(#"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#)
            }
            let list = details.isEmpty ? "" : #","details":[\#(details.joined(separator: ","))]"#
            return Array(#"{"error":{"code":\#(status),"message":"no","status":"\#(name)"\#(list)}}"#.utf8)
        }
    }

    /// Every row of the table of provider codes, and answers that are not in it or depend on a field.
    static let rows =
        ProviderCode.table.filter { $0.source == .provider(.fcm) }.compactMap { row in
            row.classification.map { Row(status: row.status, name: "STATUS", code: row.code, expected: $0) }
        } + [
            Row(status: 404, name: "NOT_FOUND", expected: Classification(.unknown, retry: .afterFix)),
            Row(status: 400, name: argument, code: argument, field: "message.token", expected: invalidToken),
            Row(status: 400, name: argument, code: argument, field: "message.fid", expected: invalidToken),
            Row(status: 400, name: argument, field: "message.token", expected: invalidToken),
            Row(
                status: 400,
                name: argument,
                code: argument,
                field: "message.data[0].value",
                expected: Classification(.unknown, retry: .never)
            ),
            Row(status: 400, name: argument, expected: Classification(.unknown, retry: .never)),
            Row(status: 401, name: "UNAUTHENTICATED", expected: Classification(.auth, retry: .now)),
            Row(status: 403, name: "PERMISSION_DENIED", expected: Classification(.auth, retry: .afterFix)),
            Row(status: 502, expected: Classification(.provider5xx, retry: .backoff)),
            Row(status: 504, expected: Classification(.provider5xx, retry: .backoff)),
            Row(status: 400, name: "FAILED", code: "UNSPECIFIED_ERROR", expected: Classification(.unknown, retry: .never)),
            Row(status: 500, name: "FAILED", code: "UNSPECIFIED_ERROR", expected: Classification(.provider5xx, retry: .backoff)),
        ]

    private static let argument = "INVALID_ARGUMENT"
    private static let invalidToken = Classification(.tokenInvalid, retry: .never, token: .suspect)

    @Test("a refusal means what the mapping table says", arguments: rows)
    func refused(row: Row) {
        let answer = FCMResponse(OutboundResponse(status: row.status, body: row.body), now: Samples.moment)
        let outcome = answer.outcome(latency: .zero, target: Samples.target(.fcm))
        #expect(outcome.status == .failed)
        #expect(outcome.classification == row.expected)
        #expect(outcome.providerErrorCode == row.code ?? row.name)
        #expect(answer.isAccessTokenRefused == (row.status == 401 && row.code == nil))
    }

    @Test("an accepted message is sent, with its name")
    func accepted() {
        let body = Array(#"{"name":"projects/p/messages/1"}"#.utf8)
        let answer = FCMResponse(OutboundResponse(status: 200, body: body), now: Samples.moment)
        let outcome = answer.outcome(latency: .milliseconds(9), target: Samples.target(.fcm))
        #expect(outcome == .sent(messageId: "projects/p/messages/1", httpStatus: 200, latency: .milliseconds(9)))
    }

    @Test("a 429 waits for what Retry-After says, and a minute without it", arguments: [("90", 90), (nil, 60)] as [(String?, Int64)])
    func quota(header: String?, seconds: Int64) {
        let headers = header.map { HeaderFields([("retry-after", $0)]) } ?? []
        let outcome = FCMResponse(OutboundResponse(status: 429, headers: headers), now: Samples.moment)
            .outcome(latency: .zero, target: Samples.target(.fcm))
        #expect(outcome.retryAfter == .seconds(seconds))
        #expect(outcome.isThrottled)
    }

    @Test(
        "RetryInfo counts like Retry-After; the longer one does",
        arguments: [("30s", nil, 30), ("1.5s", "10", 10), ("20s", "10", 20), ("x", nil, 60)]
    )
    func retryInfo(delay: String, header: String?, seconds: Int) {
        let info = #"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"\#(delay)"}"#
        let body = #"{"error":{"status":"RESOURCE_EXHAUSTED","details":[\#(info)]}}"#
        let headers = header.map { HeaderFields([("retry-after", $0)]) } ?? []
        let answer = FCMResponse(OutboundResponse(status: 429, headers: headers, body: Array(body.utf8)), now: Samples.moment)
        #expect(answer.outcome(latency: .zero, target: Samples.target(.fcm)).retryAfter == .seconds(seconds))
    }

    @Test("the detail names field and quota, and never repeats the token")
    func detail() {
        let body = """
            {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"too many for \(Samples.fcmToken)","details":[
              {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"device:\(Samples.fcmToken)"}]},
              {"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.token"}]}]}}
            """
        let answer = FCMResponse(OutboundResponse(status: 429, body: Array(body.utf8)), now: Samples.moment)
        let detail = answer.outcome(latency: .zero, target: Samples.target(.fcm)).detail
        #expect(detail.contains("field message.token"))
        #expect(detail.contains("quota (token)"))
        #expect(!detail.contains(Samples.fcmToken))
        let unavailable = #"{"error":{"code":503,"status":"UNAVAILABLE","message":"UNAVAILABLE"}}"#
        let once = FCMResponse(OutboundResponse(status: 503, body: Array(unavailable.utf8)), now: Samples.moment)
        #expect(once.outcome(latency: .zero, target: Samples.target(.fcm)).detail == "FCM answered 503 UNAVAILABLE")
    }
}
