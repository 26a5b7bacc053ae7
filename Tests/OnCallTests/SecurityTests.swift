import HTTPServer
import Testing

@testable import OnCall

@Suite("What forms and links may do")
struct SecurityTests {
    @Test(
        "a return path stays on this site",
        arguments: [
            ("/oncall/alerts/1", "/oncall/alerts/1"), ("/?a=b", "/?a=b"), ("//evil.example", "/"), ("/\\evil.example", "/"),
            ("https://evil.example", "/"), ("javascript:alert(1)", "/"), ("/a b", "/"), ("/sign-in?next=/", "/"), ("", "/"),
        ]
    )
    func returnPath(_ wanted: String, _ path: String) {
        #expect(ReturnPath(wanted).path == path)
    }

    @Test(
        "a form counts only from this very site",
        arguments: [
            ("same-origin", "https://push.example", "push.example", true),
            (nil, "http://localhost:8080", "localhost:8080", true),
            (nil, "HTTP://LOCALHOST:8080", "localhost:8080", true),
            ("same-origin", nil, "push.example", true),
            ("same-site", "https://push.example", "push.example", false),
            ("cross-site", "https://evil.example", "push.example", false),
            (nil, "https://evil.example", "push.example", false),
            (nil, "null", "push.example", false),
            (nil, nil, "push.example", false),
            ("none", nil, "push.example", false),
            (nil, "https://push.example", nil, false),
        ] as [(String?, String?, String?, Bool)]
    )
    func origin(_ site: String?, _ origin: String?, _ host: String?, _ isSame: Bool) {
        #expect(SameOrigin.isSame(site: site, origin: origin, host: host) == isSame)
    }

    @Test("form fields are decoded; the first of a name counts")
    func form() {
        #expect(FormBody.fields("key=a%2Bb+c&next=%2F&key=z&=x&bad=%zz&empty") == ["key": "a+b c", "next": "/", "": "x", "empty": ""])
    }
}
