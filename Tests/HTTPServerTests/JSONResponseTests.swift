import HTTPTypes
import Hummingbird
import Testing

@testable import HTTPServer

@Suite struct JSONResponseTests {
    private struct Answer: Encodable, Sendable {
        var url = "https://a/b"
        var accepted = 3
    }

    @Test("keys are sorted and slashes are left alone")
    func encoding() throws {
        let response = try JSONResponse(Answer(), status: .created, headers: [.location: "/x"]).response()
        #expect(response.status == .created)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.location] == "/x")
        #expect(response.body.contentLength == #"{"accepted":3,"url":"https://a/b"}"#.utf8.count)
    }

    @Test("an answer is kept by no cache unless it says so")
    func caches() throws {
        #expect(try JSONResponse(Answer()).response().headers[.cacheControl] == "no-store")
        #expect(try JSONResponse(Answer(), headers: [.cacheControl: "no-cache"]).response().headers[.cacheControl] == "no-cache")
    }

    @Test(
        "HTML is preferred only by those who ask for it first",
        arguments: [
            ("text/html,*/*", true), ("application/json, text/html", false), ("*/*", false), (nil, false), ("Text/HTML;q=0.9", true),
        ] as [(String?, Bool)]
    )
    func negotiation(accept: String?, html: Bool) {
        #expect(MediaType.prefersHTML(accept) == html)
    }
}
