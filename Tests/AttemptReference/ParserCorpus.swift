/// Bodies with a known verdict. The first letter of a name says it: `y` every item is an attempt, `r` the body is read and its items
/// are refused with the code that is named, `n` the body is not JSON as we take it.
package struct ParserCase: Sendable, CustomStringConvertible {
    package var name: String
    package var bytes: [UInt8]
    /// Of an `r` case.
    package var code: String?

    package var description: String { name }
    package var verdict: Character { name.first ?? "?" }

    init(_ name: String, _ bytes: [UInt8], code: String? = nil) {
        self.name = name
        self.bytes = bytes
        self.code = code
    }

    init(_ name: String, _ text: String, code: String? = nil) { self.init(name, Array(text.utf8), code: code) }
}

package enum ParserCorpus {
    package static let all = structure + numbers + strings + utf8 + depth + fields + dates
    private static let attempt = AttemptText.attempt()

    private static func y(_ name: String, _ text: String) -> ParserCase { ParserCase("y_" + name, text) }
    private static func n(_ name: String, _ text: String) -> ParserCase { ParserCase("n_" + name, text) }
    private static func r(_ name: String, _ text: String, _ code: String) -> ParserCase { ParserCase("r_" + name, text, code: code) }

    static let structure: [ParserCase] = [
        y("object", attempt),
        y("array_of_one", "[\(attempt)]"),
        y("array_of_three", "[\(attempt),\(attempt),\(attempt)]"),
        y("white_space_of_all_four_kinds", " \t\r\n[ \(attempt) \n,\t\(attempt)\r]\n "),
        n("empty", ""),
        n("white_space_only", " \n\t "),
        n("byte_order_mark", "\u{FEFF}\(attempt)"),
        ParserCase("n_byte_order_mark_of_utf16", [0xFF, 0xFE] + Array(attempt.utf8).flatMap { [$0, 0] }),
        n("null_byte_before", "\u{0}\(attempt)"),
        n("null_byte_after", "\(attempt)\u{0}"),
        n("form_feed_between", "[\(attempt),\u{C}\(attempt)]"),
        n("no_break_space_before", "\u{A0}\(attempt)"),
        n("vertical_tab_after", "\(attempt)\u{B}"),
        n("trailing_comma_in_array", "[\(attempt),]"),
        n("trailing_comma_in_object", String(attempt.dropLast()) + ",}"),
        n("two_commas", "[\(attempt),,\(attempt)]"),
        n("comma_first", "[,\(attempt)]"),
        n("no_comma", "[\(attempt) \(attempt)]"),
        n("two_documents", attempt + attempt),
        n("two_documents_in_lines", "\(attempt)\n\(attempt)"),
        n("trailing_bracket", "\(attempt)]"),
        n("trailing_word", "\(attempt) x"),
        n("trailing_comment", "\(attempt) // done"),
        n("comment_inside", "[/* one */\(attempt)]"),
        n("unclosed_object", String(attempt.dropLast())),
        n("unclosed_array", "[\(attempt)"),
        n("unclosed_string", #"{"attemptId":"a"#),
        n("unclosed_escape", #"{"attemptId":"a\"#),
        n("cut_in_unicode_escape", #"{"attemptId":"a\u00"#),
        n("closed_by_the_other_kind", "[\(attempt)}"),
        n("bare_key", #"{attemptId:"a"}"#),
        n("single_quotes", "{'attemptId':'a'}"),
        n("number_as_key", "{1:2}"),
        n("no_colon", #"{"attemptId" "a"}"#),
        n("two_colons", #"{"attemptId"::"a"}"#),
        n("no_value", #"{"attemptId":}"#),
        n("capital_true", #"{"uid":True}"#),
        n("half_a_word", #"{"uid":nul}"#),
        n("word_with_a_tail", #"{"uid":nullx}"#),
        n("nan", #"{"latencyMs":NaN}"#),
        n("infinity", #"{"latencyMs":Infinity}"#),
        n("minus_infinity", #"{"latencyMs":-Infinity}"#),
        n("undefined", #"{"uid":undefined}"#),
        n("good_item_and_garbage", "[\(attempt),{bad}]"),
        r("empty_object", "{}", "missing_field"),
        r("array_in_array", "[[\(attempt)]]", "invalid_type"),
        r("null_item", "[null]", "invalid_type"),
        r("string_item", #"["a"]"#, "invalid_type"),
        r("number_item", "[1.5e3]", "invalid_type"),
        r("true_item", "[true]", "invalid_type"),
        r("duplicate_key", String(attempt.dropLast()) + #","uid":"u-2"}"#, "duplicate_key"),
        r("duplicate_key_with_one_value", String(attempt.dropLast()) + #","uid":"u-1"}"#, "duplicate_key"),
        r("duplicate_key_in_disguise", String(attempt.dropLast()) + #","u\u0069d":"u-1"}"#, "duplicate_key"),
        r("duplicate_of_null", #"{"app":null,"app":null}"#, "duplicate_key"),
        r("unknown_field", AttemptText.attempt("token", #""x""#), "unknown_field"),
        r("unknown_field_of_null", AttemptText.attempt("extra", "null"), "unknown_field"),
        r("unknown_empty_key", AttemptText.attempt("", "1"), "unknown_field"),
        r("unknown_by_case", AttemptText.attempt("UID", #""x""#), "unknown_field"),
        r("unknown_by_space", AttemptText.attempt("uid ", #""x""#), "unknown_field"),
        r("unknown_by_null_byte", AttemptText.attempt(#"uid\u0000"#, #""x""#), "unknown_field"),
        r("unknown_key_with_quotes", AttemptText.attempt(#"\"\\/~\n"#, "[]"), "unknown_field"),
        r("unknown_long_key", AttemptText.attempt(String(repeating: "k", count: 5_000), "0"), "unknown_field"),
    ]

    static let depth: [ParserCase] = [
        r("nested_16", nested(16), "invalid_type"),
        r("nested_16_of_objects", nestedObjects(16), "unknown_field"),
        n("nested_17", nested(17)),
        n("nested_17_of_objects", nestedObjects(17)),
        n("nested_1000", nested(1_000)),
        n("nested_100000", nested(100_000)),
        n("opened_100000_times", String(repeating: "[", count: 100_000)),
        n("objects_opened_100000_times", String(repeating: #"{"uid":"#, count: 100_000)),
    ]

    /// An item in which so many containers, itself among them, stand one within the other around a number.
    private static func nested(_ levels: Int) -> String {
        #"{"uid":"# + String(repeating: "[", count: levels - 1) + "1" + String(repeating: "]", count: levels - 1) + "}"
    }

    private static func nestedObjects(_ levels: Int) -> String {
        String(repeating: #"{"x":"#, count: levels) + "1" + String(repeating: "}", count: levels)
    }
}
