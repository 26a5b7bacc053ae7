import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import HTTPServer

@Suite struct ProblemTests {
    @Test("a thrown problem becomes a problem document with its request id")
    func document_() async throws {
        try await withEdge { router in
            router.get("field", .open) { _, _ -> String in
                throw Problem.invalid("uid is empty. Give 1 to 256 characters.", code: "invalid_uid", pointer: "/3/uid")
            }
        } test: { client in
            let response = try await client.execute(uri: "/field", method: .get, headers: [RequestIDMiddleware.header: "abc-1"])
            #expect(response.status == .unprocessableContent)
            #expect(response.headers[.contentType] == "application/problem+json")
            #expect(response.headers[RequestIDMiddleware.header] == "abc-1")
            #expect(
                String(buffer: response.body)
                    == #"{"code":"invalid_uid","detail":"uid is empty. Give 1 to 256 characters.","pointer":"/3/uid","requestId":"abc-1","#
                    + #""status":422,"title":"Invalid value","type":"urn:pushwatch:problem:invalid_uid"}"#
            )
        }
    }

    @Test("an unexpected error is 500 and reveals nothing of itself")
    func noLeak() async throws {
        try await withEdge { router in
            router.get("boom", .open) { _, _ -> String in throw Leaky() }
            router.get("http", .open) { _, _ -> String in throw HTTPError(.badGateway, message: "password=hunter2") }
        } test: { client in
            for path in ["/boom", "/http"] {
                let response = try await client.execute(uri: path, method: .get)
                #expect(response.status == .internalServerError)
                #expect(!String(buffer: response.body).contains("hunter2"))
                #expect(try document(response)["code"] as? String == "internal_error")
            }
        }
    }

    @Test("an error from below becomes the problem the server maps it to")
    func translation() async throws {
        try await withEdge(translate: { $0 is Leaky ? .unavailable("The database is away.", retryAfter: .milliseconds(1_500)) : nil }) {
            router in
            router.get("boom", .open) { _, _ -> String in throw Leaky() }
        } test: { client in
            let response = try await client.execute(uri: "/boom", method: .get)
            #expect(response.status == .serviceUnavailable)
            #expect(response.headers[.retryAfter] == "2")
            #expect(try document(response)["retryAfter"] as? Int == 2)
        }
    }

    @Test("no path is 404; a known path with another method is 405 and says which methods there are")
    func routing() async throws {
        try await withEdge { router in
            router.get("sends/backlog", .open) { _, _ in "x" }
            router.get("sends/:sendId", .open) { _, _ in "x" }
            router.delete("sends/:sendId", .open) { _, _ in "x" }
            router.get("gone", .open) { _, _ -> String in throw HTTPError(.notFound) }
        } test: { client in
            let none = try await client.execute(uri: "/nothing", method: .get)
            #expect(none.status == .notFound)
            #expect(try document(none)["code"] as? String == "not_found")
            let wrong = try await client.execute(uri: "/sends/17", method: .post)
            #expect(wrong.status == .methodNotAllowed)
            #expect(wrong.headers[.allow] == "DELETE, GET, HEAD")
            #expect(try document(wrong)["code"] as? String == "method_not_allowed")
            #expect(try await client.execute(uri: "/sends/backlog", method: .delete).headers[.allow] == "GET, HEAD")
            #expect(try await client.execute(uri: "/gone", method: .get).status == .notFound)
            #expect(try await client.execute(uri: "/sends/17", method: .head).status == .ok)
        }
    }

    @Test(
        "every factory has the status its code promises",
        arguments: [
            (Problem.malformedJSON("x"), 400, "malformed_json"), (.unauthenticated(), 401, "unauthenticated"),
            (.missingScope(.sendsWrite), 403, "forbidden"), (.notFound("x"), 404, "not_found"),
            (.bodyTimeout(.seconds(1)), 408, "body_timeout"),
            (.conflict("x"), 409, "conflict"), (.payloadTooLarge(limit: 1), 413, "payload_too_large"),
            (.unsupportedMediaType(accepted: ["application/json"]), 415, "unsupported_media_type"),
            (.unsupportedEncoding(), 415, "unsupported_encoding"), (.invalid("x", pointer: nil), 422, "invalid"),
            (.quotaExceeded(perMinute: 1, retryAfter: .zero), 429, "quota_exceeded"), (.overloaded(), 503, "overloaded"),
            (.unavailable("x"), 503, "unavailable"),
        ] as [(Problem, Int, String)]
    )
    func factories(problem: Problem, status: Int, code: String) {
        #expect(problem.status.code == status)
        #expect(problem.code == code)
        #expect((problem.retryAfterSeconds != nil) == [429, 503].contains(status))
    }

    @Test(
        "Retry-After is rounded up and never zero",
        arguments: [(Duration.zero, 1), (.milliseconds(1), 1), (.milliseconds(1_001), 2), (.seconds(5), 5)] as [(Duration, Int64)]
    )
    func retryAfter(duration: Duration, seconds: Int64) {
        #expect(Problem.overloaded(retryAfter: duration).retryAfterSeconds == seconds)
    }
}
