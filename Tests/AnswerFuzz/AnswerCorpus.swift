import PushContract

/// Answers to start from, and the pieces of which answers are made.
enum AnswerCorpus {
    /// As the two providers write them; both are in what providers repeat.
    static let apnsToken = String(repeating: "0a1b2c3d", count: 8)
    static let fcmToken = "cFy3xYtuT1W8fRk_Zq:APA91b" + String(repeating: "Hx-9_kQ2", count: 15)

    static let apns: [[UInt8]] =
        (ProviderCode.table.filter { $0.source == .provider(.apns) }.map { #"{"reason":"\#($0.code)"}"# } + [
            "", "{}", "[]", "<html>502</html>", #"{"reason":"Unregistered","timestamp":1789999999123}"#,
            #"{"reason":"Bad \#(apnsToken)"}"#, #"{"reason":null}"#, #"{"channels":["dHN0","aWQy"]}"#, #"{"message-storage-policy":1}"#,
        ]).map { Array($0.utf8) }

    static let fcm: [[UInt8]] =
        (ProviderCode.table.filter { $0.source == .provider(.fcm) }.flatMap { row in
            let code = #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(row.code)"}"#
            return [code, "\(field("message.token")),\(code)", "\(code),\(quota)"].map { error("STATUS", $0) }
        } + [
            "", "{}", "<html>502</html>", #"{"name":"projects/p/messages/0:1500415314455276%31bd1c9631bd1c96"}"#,
            error("INVALID_ARGUMENT", field("message.data[0].value")), error("NOT_FOUND", ""), error("INVALID_ARGUMENT", ""),
            error("UNAVAILABLE", #"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}"#),
            #"{"error":{"message":"The token \#(fcmToken) is not a valid FCM token","status":"INVALID_ARGUMENT"}}"#,
            #"{"access_token":"ya29.a","expires_in":3599,"token_type":"Bearer"}"#, #"{"error":"invalid_grant"}"#,
        ]).map { Array($0.utf8) }

    private static func error(_ status: String, _ details: String) -> String {
        #"{"error":{"code":400,"message":"no","status":"\#(status)","details":[\#(details)]}}"#
    }

    private static func field(_ name: String) -> String {
        #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(name)"}]}"#
    }

    private static let quota = #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"project:p"}]}"#

    /// Texts of header fields.
    static let values: [[UInt8]] = [
        "", "120", "0", "99999999999999999999", "-1", "Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 99 Oct 2026 25:61:00 GMT",
        "EC1BF194-B3B2-424B-8B9E-0A0E2F6E2B57", apnsToken, fcmToken, "id \(apnsToken)", "dHN0",
    ].map { Array($0.utf8) }

    static let tokens: [[UInt8]] =
        [
            "\"", "\\", "{", "}", "[", "]", ":", ",", "null", "true", "0", "-", "1e309", "\\u0000", "\\u0001", "\\u0085", "\\u202E", "\\n",
            "\\uD83D\\uDE00", "\\ud800", "\u{0}", "\u{1F}", "é", "👨‍👩‍👧", "e\u{301}\u{301}", apnsToken, apnsToken.uppercased(), fcmToken,
            String(apnsToken.dropFirst(3)), String(repeating: "x ", count: 300), String(repeating: "é", count: 250), "\"reason\":",
            "\"error\":",
            "\"status\":", "\"errorCode\":", "\"details\":[", "\"timestamp\":9223372036854775807,", "\"retryDelay\":\"1e300s\"",
            "message.token",
            "retryDelay\":\"nans\"", "Unregistered", "UNREGISTERED", "INVALID_ARGUMENT", "google.firebase.fcm.v1.FcmError",
            "[[[[[[[[[[[[[[[[[[",
            " ", "GMT", "2026", "99",
        ].map { Array($0.utf8) } + [[0x80], [0xC3], [0xED, 0xA0, 0x80], [0xFF], [0xC2, 0x85]]

    static let statuses = [
        200, 200, 201, 202, 204, 299, 301, 400, 400, 401, 403, 404, 405, 408, 410, 410, 413, 429, 500, 502, 503, 504, 599, 999, 0,
    ]
}
