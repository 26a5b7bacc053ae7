import ServiceKit
import Testing

@Suite("Text for other forms")
struct EncodedTextTests {
    @Test("HTML has no character of the text that means something in it, and none that XML does not allow")
    func html() {
        #expect(#"<a href="x" title='y'>&amp;</a>"#.escapedHTML == "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;")
        #expect("a\u{0}b\u{1F}c\td\n é".escapedHTML == "a\u{FFFD}b\u{FFFD}c\td\n é")
    }

    @Test(
        "base64url is read as it is written, without padding",
        arguments: [([], ""), ([0xFB], "-w"), ([0xFF, 0xFF], "__8"), ([1, 2, 3], "AQID")] as [([UInt8], String)]
    )
    func base64URL(_ bytes: [UInt8], _ text: String) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(Base64URL.decode(text) == bytes)
    }

    @Test("base64 with its own alphabet or padding is not base64url", arguments: ["+w", "/w", "-w==", "A"])
    func otherBase64(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test("each secret is replaced wherever the text repeats it, and an empty one nowhere")
    func redacting() {
        #expect("key-1 and key-1, token-2".redacting(["key-1", "", "token-2"]) == "*** and ***, ***")
        #expect("key-1".redacting(["key-1"], as: "(key)") == "(key)")
    }
}
