import PushContract

/// Each field at its edges, and the date-times.
extension ParserCorpus {
    private static func field(_ verdict: String, _ key: String, _ value: String?, _ code: String? = nil) -> ParserCase {
        ParserCase("\(verdict)_\(key)_\((value ?? "absent").prefix(40))_\(value?.count ?? 0)", AttemptText.attempt(key, value), code: code)
    }

    private static func quoted(_ text: String) -> String { "\"\(text)\"" }
    private static func long(_ count: Int) -> String { quoted(String(repeating: "x", count: count)) }
    /// So many characters in which nothing looks like a token.
    private static func plain(_ count: Int) -> String { quoted(String(String(repeating: "code.", count: count).prefix(count))) }

    static let fields: [ParserCase] = required + visible + texts + words + combinations + tokens

    /// An APNs token and one in the form of FCM's, with their hashes.
    private static let ownTokens: [(token: String, hash: String)] = {
        let apns = String(repeating: "5a", count: 32)
        let fcm = String(repeating: "d", count: 22) + ":APA91b" + String(repeating: "Zx-_9", count: 26)
        return [(apns, (try? TokenHash.apns(apns).rawValue) ?? ""), (fcm, (try? TokenHash.fcm(fcm).rawValue) ?? "")]
    }()

    private static let tokens = ownTokens.flatMap { ownTokenCases($0.token, $0.hash) } + otherTokenCases

    /// The token of the attempt, in every field that may hold an id.
    private static func ownTokenCases(_ token: String, _ hash: String) -> [ParserCase] {
        let isFCM = token.contains(":")
        // Case counts in FCM's tokens, and there is no telling where one begins among other letters.
        let texts: [(text: String, isOwn: Bool)] = [
            (token, true), (token.uppercased(), !isFCM), ("<\(token)>", true), ("send-\(token)", true), ("ac\(token)", !isFCM),
            ("\(token).1", true), ("x_\(token)", true), ("a:\(token)", true),
        ]
        var cases: [ParserCase] = []
        for key in ["attemptId", "uid", "requestId", "sendId"] {
            for (text, isOwn) in texts {
                let name = "\(isOwn ? "r" : "y")_token_in_\(key)_\(text.prefix(8))_\(text.count)"
                let body = AttemptText.attempt([("tokenHash", quoted(hash)), (key, quoted(text))])
                cases.append(ParserCase(name, body, code: isOwn ? "raw_token" : nil))
            }
        }
        return cases
    }

    /// What only looks like a token: no fault of an id.
    private static let otherTokenCases: [ParserCase] = {
        var cases: [ParserCase] = []
        for key in ["attemptId", "uid", "requestId", "sendId"] {
            for token in ownTokens.map(\.token) + [String(repeating: "5a", count: 33)] { cases.append(field("y", key, quoted(token))) }
        }
        for key in ["app", "appVersion", "pushType", "providerErrorCode", "providerMessageId"] {
            for token in ownTokens.map(\.token) + [String(repeating: "x", count: 100), String(repeating: "a", count: 64)] {
                for text in [token, "Bad \(token)!", "x\(token.uppercased())"] { cases.append(field("r", key, quoted(text), "raw_token")) }
            }
            for text in [
                String(repeating: "x", count: 99), String(repeating: "a", count: 63) + "x", String(repeating: "com.example.", count: 12),
            ] {
                cases.append(field("y", key, quoted(text)))
            }
        }
        return cases
    }()

    private static let required = AttemptText.required.flatMap { key, _ in
        [field("r", key, nil, "missing_field"), field("r", key, "null", "missing_field")]
            + ["7", "-1.5", "true", "[]", "{}", #"["a-1"]"#].map { field("r", key, $0, "invalid_type") }
            + [field("r", key, quoted(""), key == "tokenHash" ? "raw_token" : "invalid_value")]
    }

    private static let visible = ["attemptId", "requestId", "sendId"].flatMap { key in
        [long(1), long(200), quoted(#"!#$%&'()*+,-./:;<=>?@[]^_`{|}~"#), quoted(#"\"\\\/"#), quoted(#"\u0021\u007e"#)].map {
            field("y", key, $0)
        }
            + [
                long(201), long(50_000), quoted(" "), quoted("a b"), quoted("é"), quoted("\u{7F}"), quoted(#"\u0000"#), quoted(#"\n"#),
                quoted("😀"),
            ]
            .map { field("r", key, $0, "invalid_value") }
    }

    private static let texts =
        ["app", "pushType", "appVersion", "providerMessageId"].flatMap { key in
            [nil, "null", long(1), plain(200), quoted("Zoë 😀"), quoted(String(repeating: "é", count: 200))].map { field("y", key, $0) }
                + [quoted(""), long(201), quoted(#"a\u0000"#), quoted(#"\u0085"#), quoted(String(repeating: "😀", count: 201))].map {
                    field("r", key, $0, "invalid_value")
                }
                + ["1", "false", "[]", #"{"a":{"a":1,"a":2}}"#].map { field("r", key, $0, "invalid_type") }
        }
        + [nil, "null", quoted(""), plain(200)].map { field("y", "providerErrorCode", $0) }
        + [long(201), quoted(#"\u001b"#)].map { field("r", "providerErrorCode", $0, "invalid_value") }

    private static let words: [ParserCase] =
        ["register", "unregister", "send"].map { field("y", "eventType", quoted($0)) }
        + ["queued", "sent"].map { field("y", "status", quoted($0)) }
        + ["production", "sandbox"].map { field("y", "environment", quoted($0)) }
        + [field("y", "eventType", quoted(#"s\u0065nd"#)), field("y", "environment", "null"), field("y", "reasonCode", "null")]
        + [
            ("platform", "IOS"), ("platform", "ios "), ("platform", "watchos"), ("provider", "Apns"), ("provider", "gcm"),
            ("eventType", "sent"),
            ("status", "delivered"), ("status", "Sent"), ("environment", "staging"), ("environment", "prod"),
        ].map { field("r", $0.0, quoted($0.1), "invalid_value") }
        + [
            (String(repeating: "0a", count: 32), "raw_token"), ("f:APA91bExample", "raw_token"), ("SHA256:", "raw_token"),
            ("sha256:" + String(repeating: "0A", count: 32), "invalid_value"),
            ("sha256:" + String(repeating: "0", count: 63), "invalid_value"),
            ("sha256:" + String(repeating: "0", count: 65), "invalid_value"),
            ("sha256:" + String(repeating: "g", count: 64), "invalid_value"),
            ("sha256:" + String(repeating: "０", count: 64), "invalid_value"), ("sha256:", "invalid_value"), (" sha256:", "raw_token"),
        ].map { field("r", "tokenHash", quoted($0.0), $0.1) }

    private static func pair(_ verdict: String, _ changes: [(String, String)], _ code: String? = nil) -> ParserCase {
        let name = changes.map { "\($0.0)=\($0.1)" }.joined(separator: "_")
        return ParserCase("\(verdict)_\(name)", AttemptText.attempt(changes.map { ($0.0, quoted($0.1)) }), code: code)
    }

    private static let reasons = ["token_invalid", "token_not_registered", "provider_5xx", "network", "auth", "unknown"]

    private static let combinations: [ParserCase] =
        ["failed", "deactivated"].flatMap { status in
            reasons.map { pair("y", [("status", status), ("reasonCode", $0)]) }
                + [
                    pair("r", [("status", status)], "missing_field"),
                    pair("r", [("status", status), ("reasonCode", "timeout")], "invalid_value"),
                    pair("r", [("status", status), ("reasonCode", "")], "invalid_value"),
                ]
        }
        + ["queued", "sent"].map { pair("r", [("status", $0), ("reasonCode", "auth")], "invalid_combination") }
        + [("android", "fcm"), ("web", "fcm"), ("ios", "fcm")].map { pair("y", [("platform", $0.0), ("provider", $0.1)]) }
        + [("android", "apns"), ("web", "apns")].map { pair("r", [("platform", $0.0), ("provider", $0.1)], "invalid_combination") }

    private static func at(_ verdict: String, _ text: String, _ code: String? = nil) -> ParserCase {
        ParserCase("\(verdict)_at_\(text.prefix(44))", AttemptText.attempt("attemptedAt", quoted(text)), code: code)
    }

    static let dates: [ParserCase] =
        [
            "2026-03-10T12:00:00Z", "2026-03-10t12:00:00z", "2026-03-10 12:00:00Z", "2026-03-10T12:05:00Z", "2026-03-10T12:05:00.0000009Z",
            "2026-03-03T12:00:00Z", "2026-03-10T13:00:00+01:00", "2026-03-11T11:59:00+23:59", "2026-03-09T12:01:00-23:59",
            "2026-03-10T12:00:00-00:00", "2026-03-10T12:00:00.1Z", "2026-03-10T11:59:59.999999Z", "2026-03-10T11:59:59.123456789Z",
            "2026-03-10T12:00:00." + String(repeating: "1", count: 300) + "Z",
        ].map { at("y", $0) }
        + [
            "2026-03-03T11:59:59.999999Z", "2026-03-10T12:05:00.000001Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
            "0001-01-01T00:00:00Z", "2025-03-10T12:00:00Z", "2024-02-29T00:00:00Z",
        ].map { at("r", $0, "attempted_at_out_of_range") }
        + [
            "2026-03-10", "2026-03-10T12:00Z", "2026-03-10T12:00:00", "2026-03-10T12:00:00+0100", "2026-03-10T12:00:00+01",
            "2026-03-10T24:00:00Z",
            "2026-03-10T12:60:00Z", "2026-03-10T12:00:60Z", "2026-02-29T12:00:00Z", "2026-13-10T12:00:00Z", "2026-00-10T12:00:00Z",
            "2026-03-00T12:00:00Z", "2026-03-32T12:00:00Z", "2026-04-31T12:00:00Z", "2026-03-10T12:00:00.Z", "2026-03-10T12:00:00,5Z",
            "2026-03-10T12:00:00ZZ", " 2026-03-10T12:00:00Z", "2026-03-10T12:00:00Z ", "26-03-10T12:00:00Z", "+2026-03-10T12:00:00Z",
            "-026-03-10T12:00:00Z", "0000-03-10T12:00:00Z", "2026-3-10T12:00:00Z", "２026-03-10T12:00:00Z", "2026-03-10T12:00:00+24:00",
            "2026-03-10T12:00:00+01:60", "2026-03-10T12:00:00−01:00", "1741608000", "now", "2026-W11-2T12:00:00Z", "2026-069T12:00:00Z",
        ].map { at("r", $0, "invalid_value") }
}
