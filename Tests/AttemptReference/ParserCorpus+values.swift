/// Numbers and strings.
extension ParserCorpus {
    private static func latency(_ number: String) -> String { AttemptText.attempt("latencyMs", number) }

    static let numbers: [ParserCase] =
        ["0", "-0", "7", "2147483647", "10"].map { ParserCase("y_latency_\($0)", latency($0)) }
        + ["-1", "2147483648", "9223372036854775807", "-9223372036854775808"].map {
            ParserCase("r_latency_\($0)", latency($0), code: "invalid_value")
        }
        + [
            "1.0", "0.0", "-0.0", "1e3", "1E3", "1e+3", "1e-3", "0e0", "1.5e10", "1e308", "1e-400", "9223372036854775808",
            "18446744073709551615", "0." + String(repeating: "0", count: 400) + "1", "1" + String(repeating: "0", count: 30) + ".5", "true",
            "\"7\"", "[7]", "{}", "18446744073709551616", "-9223372036854775809", String(repeating: "9", count: 400), "1e309", "-1e309",
            "1e99999",
            "1E400", "123456789012345678901",
        ].map { ParserCase("r_latency_\($0.prefix(24))_\($0.count)", latency($0), code: "invalid_type") }
        + [
            "01", "-01", "00", "+1", "1.", ".5", "-", "-.5", "1e", "1e+", "1E-", "0x10", "1_000", "1,000.", "１", "1 2", "--1", "1.2.3",
            "1e5.5", "1e99999.", "1e309e", "99999999999999999999-", "099999999999999999999", "-1e309.5", "1e3091e309",
            "\u{2212}1", "1f", "1L", "0b1", "1e١",
        ].map { ParserCase("n_latency_\($0.prefix(24))_\($0.count)", latency($0)) }

    private static func uid(_ text: String) -> String { AttemptText.attempt("uid", "\"\(text)\"") }

    static let strings: [ParserCase] =
        [
            #"\"\\\/"#, #"\u0041\u00e9\u20AC"#, #"\uD83D\uDE00"#, #"\ud83d\ude00"#, "é", "e\u{301}", "😀", "\u{FEFF}", "\u{FFFD}",
            "\u{FFFF}",
            "\u{10FFFF}", "\u{2028}\u{2029}", #"\u00a0"#, "\u{A0}", "'", "/", "a b", " ", #"\uFFFE"#, "\u{200B}", "\u{202E}", "שלום",
            String(repeating: "x", count: 256), String(repeating: "é", count: 256), String(repeating: "😀", count: 256),
            String(repeating: #"\u0041"#, count: 256), String(repeating: #"\uD83D\uDE00"#, count: 256),
        ].enumerated().map { ParserCase("y_uid_\($0.offset)", uid($0.element)) }
        + [
            #"\u0000"#, #"a\u0000b"#, #"\n"#, #"\t"#, #"\r"#, #"\b"#, #"\f"#, #"\u001F"#, #"\u007f"#, "\u{7F}", #"\u0080"#, "\u{85}",
            "\u{9F}",
            #"\u009f"#, "", String(repeating: "x", count: 257), String(repeating: "😀", count: 257),
            String(repeating: #"\u0041"#, count: 257),
        ].enumerated().map { ParserCase("r_uid_\($0.offset)", uid($0.element), code: "invalid_value") }
        + [
            #"\uD800"#, #"\uDBFF"#, #"\uDC00"#, #"\uDFFF"#, #"\uDE00\uD83D"#, #"\uD83D\uD83D"#, #"\uD83Dx"#, #"\uD83D\n"#, #"\uD83D\u0041"#,
            #"\uD83D\"#, #"\uD83D\u"#, #"\uD83D\uDE0"#, #"\uD83D\uDE0g"#, #"\ud800\udbff"#, #"\x41"#, #"\a"#, #"\'"#, #"\0"#, #"\U0041"#,
            #"\u"#, #"\u1"#, #"\u12"#, #"\u123"#, #"\u12g4"#, #"\u 123"#, #"\u+123"#, #"\u-123"#, #"\u００41"#, "\u{0}", "\u{1}", "\u{1F}",
            "a\tb", "a\nb", "a\rb", #"\"#, #"\u{41}"#, "\\\u{0}", "\\\n", "\\é",
        ].enumerated().map { ParserCase("n_uid_\($0.offset)", uid($0.element)) }

    /// Broken in every way that a sequence can be, alone and with letters around it; in a value, a key, and between things.
    static let utf8: [ParserCase] = broken.enumerated().flatMap { index, bytes in
        [
            ParserCase("n_utf8_\(index)_value", AttemptText.attempt(uid: bytes)),
            ParserCase("n_utf8_\(index)_within", AttemptText.attempt(uid: Array("é".utf8) + bytes + Array("é".utf8))),
            ParserCase("n_utf8_\(index)_at_a_block_edge", AttemptText.attempt(uid: Array(repeating: 0x78, count: 44) + bytes)),
            ParserCase("n_utf8_\(index)_key", Array(#"{""#.utf8) + bytes + Array(#"":1}"#.utf8)),
            ParserCase("n_utf8_\(index)_outside", Array("[".utf8) + bytes + Array("]".utf8)),
            ParserCase("n_utf8_\(index)_at_the_end", Array(AttemptText.attempt().utf8) + bytes),
        ]
    }

    private static let broken: [[UInt8]] = [
        [0x80], [0xBF], [0x80, 0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xC3, 0xC3, 0xA9], [0xE0, 0x80, 0x80],
        [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xE2], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80], [0xED, 0xAF, 0xBF],
        [0xED, 0xB0, 0x80], [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
        [0xF0, 0x9F, 0x98], [0xF0, 0x9F], [0xF0], [0xF0, 0x28, 0x8C, 0xBC], [0xF0, 0x9F, 0x98, 0x28], [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xFE, 0xFF],
        [0xFF, 0xFE],
    ]
}
