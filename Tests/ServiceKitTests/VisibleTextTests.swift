import ServiceKit
import Testing

@Suite("Texts as people may read them")
struct VisibleTextTests {
    @Test(
        "what would reorder, hide or control the text around it is written out",
        arguments: [
            ("plain, é, 😀\n\t", "plain, é, 😀\n\t"), ("a\u{202E}b", "a⟨U+202E⟩b"), ("\u{2066}x\u{2069}", "⟨U+2066⟩x⟨U+2069⟩"),
            ("\u{1B}[31mred", "⟨U+001B⟩[31mred"), ("a\u{0}b", "a⟨U+0000⟩b"), ("a\u{9B}b", "a⟨U+009B⟩b"), ("\u{200F}", "⟨U+200F⟩"),
            ("\u{FEFF}", "⟨U+FEFF⟩"), ("\u{2028}", "⟨U+2028⟩"), ("👩\u{200D}👩", "👩\u{200D}👩"), ("שלום", "שלום"),
        ]
    )
    func visible(_ text: String, _ expected: String) {
        #expect(Array(text.visible.unicodeScalars) == Array(expected.unicodeScalars))
    }
}
