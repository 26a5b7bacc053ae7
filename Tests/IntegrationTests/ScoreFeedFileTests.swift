import LiveActivities
import Testing

@testable import Server

@Suite("The file of score feeds")
struct ScoreFeedFileTests {
    @Test("each feed has a URL, and headers and a token file if it wants them")
    func feeds() throws {
        let yaml = """
            - {url: "https://a.example/x", tokenFile: /run/token, headers: {X-Customer: "17"}}
            - url: http://b.example
            """
        let feeds = try ScoreFeed.read(yaml: yaml, name: "feeds.yml")
        #expect(feeds.map(\.url) == ["https://a.example/x", "http://b.example"])
        #expect(feeds.map(\.tokenFile) == ["/run/token", nil] && feeds.map(\.headers) == [["X-Customer": "17"], [:]])
    }

    @Test(
        "faults name their place, and repeat no value",
        arguments: [
            ("a: [", "feeds.yml is not YAML"), ("a: b", "feeds.yml must be a list of feeds"), ("- a", "feed 1 must be a mapping"),
            ("- {url: \"ftp://a\"}", "feed 1: `url` must begin with https:// or http://"),
            ("- {url: \"https://a\", token: secret}", "feed 1: `token` is not known"),
            ("- {url: \"https://a\", tokenFile: 7}", "feed 1: `tokenFile` must be a path"),
            ("- {url: \"https://a\", headers: {X-Key: \"sec\\nret\"}}", "feed 1: the value of `X-Key`"),
            ("- {url: \"https://a\", headers: {\"X Key\": secret}}", "feed 1: `X Key` is not the name of a header"),
        ]
    )
    func faults(yaml: String, message: String) {
        let error = #expect(throws: ConfigurationError.self) { try ScoreFeed.read(yaml: yaml, name: "feeds.yml") }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains(message) && !text.contains("secret"), "\(text)")
    }
}
