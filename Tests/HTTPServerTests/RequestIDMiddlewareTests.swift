import ServiceKit
import Testing

@testable import HTTPServer

@Suite struct RequestIDMiddlewareTests {
    @Test("a usable id is kept", arguments: ["a", "0b9c-17", String(repeating: "x", count: 200)])
    func kept(id: String) {
        #expect(RequestIDMiddleware.id(from: id) == id)
    }

    @Test("an unusable id is replaced", arguments: [nil, "", "a b", "a\u{7F}", "é", "a\"\n", String(repeating: "x", count: 201)])
    func replaced(id: String?) {
        let made = RequestIDMiddleware.id(from: id)
        #expect(made != id)
        #expect(made.count == ULID.length)
    }
}
