import AttemptReference
import PushContract
import Testing

@testable import Attempts

@Suite("Reading attempts from a body")
struct AttemptParserTests {
    @Test("one object is one attempt, with every field as it was sent")
    func single() throws {
        let body = try Sample.bytes(
            Sample.json([
                "app": "com.example", "environment": "sandbox", "pushType": "alert", "appVersion": "3.2.0", "providerMessageId": "m-1",
                "latencyMs": 42, "sendId": "s-1", "providerErrorCode": "Unregistered", "status": "deactivated",
                "reasonCode": "token_not_registered", "uid": "Zoë 😀",
            ])
        )
        let parsed = try AttemptParser().document(body)
        #expect(parsed.isSingle && parsed.rejections.isEmpty)
        let attempt = parsed.batch[0]
        #expect(attempt.uid == "Zoë 😀")
        #expect(attempt.environment == .sandbox && attempt.latencyMs == 42 && attempt.reasonCode == .tokenNotRegistered)
        #expect(attempt.providerErrorCode == "Unregistered" && attempt.appVersion == "3.2.0" && attempt.sendId == "s-1")
        #expect(attempt.attemptedAt == Sample.now)
    }

    @Test(
        "an item at fault is refused with a code and the field",
        arguments: [
            (["attemptId": nil], "missing_field", "attemptId"),
            (["attemptId": ""], "invalid_value", "attemptId"),
            (["attemptId": "with space"], "invalid_value", "attemptId"),
            (["attemptId": String(repeating: "x", count: 201)], "invalid_value", "attemptId"),
            (["uid": ""], "invalid_value", "uid"),
            (["uid": "a\u{0}b"], "invalid_value", "uid"),
            (["uid": "a\u{85}b"], "invalid_value", "uid"),
            (["uid": String(repeating: "é", count: 257)], "invalid_value", "uid"),
            (["uid": 7], "invalid_type", "uid"),
            (["platform": "windows"], "invalid_value", "platform"),
            (["platform": "android"], "invalid_combination", "provider"),
            (["tokenHash": String(repeating: "0a", count: 32)], "raw_token", "tokenHash"),
            (["tokenHash": "fXq1:APA91bH-example"], "raw_token", "tokenHash"),
            (["tokenHash": "sha256:" + String(repeating: "0A", count: 32)], "invalid_value", "tokenHash"),
            (["status": "failed"], "missing_field", "reasonCode"),
            (["reasonCode": "auth"], "invalid_combination", "reasonCode"),
            (["status": "failed", "reasonCode": "bad"], "invalid_value", "reasonCode"),
            (["attemptedAt": "2026-03-10T12:00:00"], "invalid_value", "attemptedAt"),
            (["attemptedAt": "2026-03-03T11:59:59Z"], "attempted_at_out_of_range", "attemptedAt"),
            (["attemptedAt": "2026-03-10T12:05:01Z"], "attempted_at_out_of_range", "attemptedAt"),
            (["latencyMs": -1], "invalid_value", "latencyMs"),
            (["latencyMs": 1.5], "invalid_type", "latencyMs"),
            (["providerErrorCode": String(repeating: "x", count: 201)], "invalid_value", "providerErrorCode"),
            (["environment": "staging"], "invalid_value", "environment"),
            (["token": "abc"], "unknown_field", "token"),
        ] as [([String: (any Sendable)?], String, String)]
    )
    func faults(changes: [String: (any Sendable)?], code: String, field: String) throws {
        let parsed = try AttemptParser().document(try Sample.bytes(Sample.json(changes)))
        #expect(parsed.batch.isEmpty)
        #expect(parsed.rejections.map(\.fault.code) == [code])
        #expect(parsed.rejections.map(\.fault.field) == [field])
    }

    @Test("null means absent in optional fields, and missing in required ones")
    func nulls() throws {
        let text =
            #"{"attemptId":"a","uid":"u","platform":"ios","provider":"apns","tokenHash":"sha256:\#(String(repeating: "0a", count: 32))","#
        let fine =
            text + #""eventType":"send","status":"sent","reasonCode":null,"app":null,"attemptedAt":"2026-03-10T12:00:00Z","requestId":"r"}"#
        #expect(try AttemptParser().document(Array(fine.utf8)).rejections.isEmpty)
        let missing = text + #""eventType":"send","status":"sent","attemptedAt":null,"requestId":"r"}"#
        #expect(try AttemptParser().document(Array(missing.utf8)).rejections.map(\.fault.code) == ["missing_field"])
    }

    @Test("a duplicate key is refused, also when both values agree")
    func duplicateKey() throws {
        let parsed = try AttemptParser().document(Array(#"{"attemptId":"a","attemptId":"a"}"#.utf8))
        #expect(parsed.rejections.map(\.fault.code) == ["duplicate_key"])
    }

    @Test("a bad item of an array is rejected alone, with its place and its id")
    func badItemAlone() throws {
        let items: [Any] = [Sample.json(id: "a-1"), Sample.json(["uid": nil], id: "a-2"), 7, Sample.json(id: "a-4")]
        let parsed = try AttemptParser().document(try Sample.bytes(items))
        #expect(parsed.indices == [0, 3])
        #expect(parsed.rejections.map(\.index) == [1, 2])
        #expect(parsed.rejections.map(\.attemptId) == ["a-2", nil])
        #expect(parsed.batch[1].attemptId == "a-4")
    }

    @Test("a bad line of NDJSON is rejected alone; blank lines do not count; a missing last line feed is fine")
    func lines() throws {
        let one = String(decoding: try Sample.bytes(Sample.json(id: "a-1")), as: UTF8.self)
        let two = String(decoding: try Sample.bytes(Sample.json(id: "a-2")), as: UTF8.self)
        let parsed = try AttemptParser().lines(Array("\(one)\n{\"broken\n\r\n[1]\n\(two)".utf8))
        #expect(parsed.indices == [0, 3])
        #expect(parsed.rejections.map(\.index) == [1, 2])
        #expect(parsed.rejections.allSatisfy { $0.fault.code == "malformed_json" })
    }

    @Test(
        "a body that is not JSON, or not attempts, is refused as a whole",
        arguments: [
            "", "   ", "{", "[{}", "nul", "{}x", "{} {}", "[1,]", "{\"a\":1,}", "\u{FEFF}{}", "{'a':1}", "[\"\\uD800\"]", "[NaN]", "[01]",
            "/* */ {}", "7", "\"text\"", "null",
        ]
    )
    func malformedBodies(body: String) {
        #expect(throws: AttemptParser.BodyFault.self) { try AttemptParser().document(Array(body.utf8)) }
    }

    @Test(
        "a body that is refused as a whole is reported with the position and the cause",
        arguments: [
            (" \n", "it is empty"), ("\u{FEFF}{}", "it begins with a byte order mark; send UTF-8 without one"),
            ("{\"uid\": \"u\" \"app\": \"a\"}", "at byte 12, a comma or } is missing"), ("[{},]", "at byte 4, there is no JSON value"),
            ("{\"latencyMs\": 01}", "at byte 16, a number starts with a zero too many"),
            ("{\"uid\": \"u", "at byte 10, a string does not end"),
            ("{\"app\": [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}", "at byte 23, the nesting is deeper than 16 levels"),
            (
                "{}\n{}",
                "at byte 3, another value follows the first; send several as an array, or one a line as application/x-ndjson"
            ),
            ("{} x", "at byte 3, there is something after the end of the value"),
        ]
    )
    func jsonErrorLocation(body: String, sentence: String) {
        #expect(throws: AttemptParser.BodyFault.malformed(sentence)) { try AttemptParser().document(Array(body.utf8)) }
    }

    @Test("a number beyond 64 bits or a double is the fault of its item alone: the others of the array are taken")
    func largeNumbers() throws {
        func attempt(_ id: String, _ latency: String) -> String {
            AttemptText.attempt([("attemptId", "\"\(id)\""), ("latencyMs", latency)])
        }
        for number in ["1E400", "-1e999", "123456789012345678901", "-9223372036854775809"] {
            let body = "[\(attempt("a", "12")), \(attempt("b", number)), \(attempt("c", "13"))]"
            let parsed = try AttemptParser().document(Array(body.utf8))
            #expect(parsed.indices == [0, 2], "\(number)")
            #expect(parsed.rejections.map(\.index) == [1] && parsed.rejections.first?.fault.field == "latencyMs")
        }
        #expect(throws: AttemptParser.BodyFault.self) { try AttemptParser().document(Array("[{\"latencyMs\": 1E400.}]".utf8)) }
        let uid = #""99999999999999999999 \\\" 1E400 -""#
        let text = "[\(AttemptText.attempt("uid", uid)), \(attempt("b", "1E400"))]"
        let parsed = try AttemptParser().document(Array(text.utf8))
        #expect(parsed.indices == [0] && parsed.rejections.map(\.index) == [1], "strings stay as they are")
    }

    @Test("the first hundred malformed lines are reported with the position of the error, the rest only with what is wrong")
    func malformedLines() throws {
        let parsed = try AttemptParser().lines(Array(String(repeating: "{} {}\n", count: 102).utf8))
        let details = parsed.rejections.map(\.fault.detail)
        #expect(details[99] == "the line is not valid JSON: at byte 3, there is something after the end of the value")
        #expect(details[100].hasPrefix("the line is not valid JSON: a comma, a colon"))
    }

    @Test(
        "broken UTF-8 is refused as a whole",
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] as [[UInt8]]
    )
    func brokenUTF8(bytes: [UInt8]) {
        #expect(throws: AttemptParser.BodyFault.self) {
            try AttemptParser().document(Array(#"[{"uid":""#.utf8) + bytes + Array(#""}]"#.utf8))
        }
    }

    @Test("nesting over 16 levels is malformed; up to there it is only a wrong type")
    func depth() throws {
        func nested(_ levels: Int) -> [UInt8] {
            Array(("{\"uid\":" + String(repeating: "[", count: levels - 1) + "1" + String(repeating: "]", count: levels - 1) + "}").utf8)
        }
        #expect(try AttemptParser().document(nested(16)).rejections.map(\.fault.code) == ["missing_field"])
        let tooDeep = nested(17)
        #expect(throws: AttemptParser.BodyFault.self) { try AttemptParser().document(tooDeep) }
    }

    @Test("more items than the limit are refused before any of them is looked at")
    func tooMany() throws {
        let items = (0..<11).map { Sample.json(id: "a-\($0)") }
        let body = try Sample.bytes(items)
        #expect(throws: AttemptParser.BodyFault.tooManyItems(limit: 10)) { try AttemptParser().document(body, limit: 10) }
    }

    @Test("a refused token is never repeated in the answer")
    func noToken() throws {
        let token = String(repeating: "5c", count: 32)
        let parsed = try AttemptParser().document(try Sample.bytes(Sample.json(["tokenHash": token])))
        #expect(parsed.rejections.count == 1 && parsed.rejections.allSatisfy { !$0.fault.detail.contains(token) })
    }

    @Test("a text with the attempt's own token, or one that has its shape where none belongs, is refused and not repeated")
    func tokensInTexts() throws {
        let token = String(repeating: "5c", count: 32)
        let hash = try TokenHash.apns(token).rawValue
        for field in ["attemptId", "uid", "requestId", "sendId", "app", "appVersion", "pushType", "providerErrorCode", "providerMessageId"]
        {
            for text in [token, "to-\(token.uppercased())"] {
                let parsed = try AttemptParser().document(try Sample.bytes(Sample.json(["tokenHash": hash, field: text])))
                let rejection = try #require(parsed.rejections.first, "\(field)")
                #expect(rejection.fault.code == "raw_token" && rejection.fault.field == field)
                #expect(!"\(rejection)".lowercased().contains(token))
            }
        }
        // Ids are made of digests: that they look like a token is no fault.
        let ids = Sample.json(["attemptId": token, "requestId": token, "sendId": token, "uid": token])
        #expect(try AttemptParser().document(try Sample.bytes(ids)).rejections.isEmpty)
    }

    @Test("an array's item is measured like a line: at 64 KiB it is taken, a byte over it is refused alone")
    func itemSize() throws {
        func item(_ id: String, bytes: Int) throws -> String {
            let text = String(decoding: try Sample.bytes(Sample.json(id: id)), as: UTF8.self)
            // Blanks inside, and braces in a string, which must not be taken for structure.
            let marked = text.replacing("\"r-1\"", with: "\"}],{[\"")
            return "{" + String(repeating: " ", count: bytes - marked.utf8.count) + marked.dropFirst()
        }
        let limit = AttemptParser.maxItemBytes
        let body = "[ \(try item("a", bytes: limit)) , 7, \(try item("b", bytes: limit + 1)),\(try item("c", bytes: 1000)) ]"
        let parsed = try AttemptParser().document(Array(body.utf8))
        #expect(parsed.indices == [0, 3])
        #expect(parsed.rejections.map(\.index) == [1, 2])
        #expect(parsed.rejections.map(\.fault.code) == ["invalid_type", "item_too_large"])
        #expect(parsed.rejections[1].attemptId == "b")
        let single = try AttemptParser().document(Array(try item("d", bytes: limit + 1).utf8))
        #expect(single.rejections.map(\.fault.code) == ["item_too_large"])
    }
}
