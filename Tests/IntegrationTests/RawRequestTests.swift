import Foundation
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Requests as bytes")
    struct RawRequestTests {
        private func withPort(_ body: (Int) async throws -> Void) async throws {
            try await withDatabaseURL { database in
                try await withServer(ServerConfiguration.bare(database)) { url in
                    let api = API(url: url, bearer: nil)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                    try await body(try #require(URL(string: url)?.port))
                }
            }
        }

        @Test(
            "each is answered as RFC 9112 has it; a fault has a problem document and ends the connection, and nothing behind it is a request"
        )
        func cases() async throws {
            try await withPort { port in
                for raw in RawRequestCase.all {
                    let answer = await RawConnection.exchange([(raw.bytes + Array(RawRequestCase.probe.utf8), 0)], port: port)
                    #expect(answer.statuses == raw.statuses, "\(raw.name): \(answer.text.prefix(300))")
                    #expect(answer.isEnded, "\(raw.name)")
                    #expect(answer.problems == raw.statuses.count { $0 >= 400 }, "\(raw.name): \(answer.text.prefix(300))")
                    guard raw.statuses.last.map({ $0 >= 400 }) == true else { continue }
                    #expect(answer.text.lowercased().contains("\r\nconnection: close\r\n"), "\(raw.name)")
                }
            }
        }

        @Test("the same bytes in pieces of one are answered the same")
        func pieces() async throws {
            try await withPort { port in
                for raw in RawRequestCase.all where raw.bytes.count < 300 {
                    let bytes = raw.bytes + Array(RawRequestCase.probe.utf8)
                    let answer = await RawConnection.exchange(bytes.map { ([$0], 0) }, port: port)
                    #expect(answer.statuses == raw.statuses, "\(raw.name): \(answer.text.prefix(300))")
                }
            }
        }

        @Test("100 comes when the body is wanted; who is refused before that gets the refusal and the end of the connection")
        func expectation() async throws {
            try await withPort { port in
                let body = #"{"attemptId":"x"}"#
                func post(_ fields: String, path: String = "/attempts", length: Int = body.utf8.count) -> [UInt8] {
                    Array(
                        ("POST \(path) HTTP/1.1\r\n\(RawRequestCase.host)Content-Type: application/json\r\nContent-Length: \(length)\r\n"
                            + "Expect: 100-Continue\r\n\(fields)\r\n").utf8
                    )
                }
                let key = "Authorization: Bearer \(RunningServer.bootstrapKey)\r\n"
                let probe = Array(RawRequestCase.probe.utf8)
                let taken = await RawConnection.exchange([(post(key), 1), (Array(body.utf8) + probe, 0)], port: port)
                #expect(taken.statuses == [100, 422, 200], "\(taken.text)")
                let refused = [
                    (post(""), 401), (post("Authorization: Bearer x\r\n"), 401), (post(key, path: "/nowhere"), 404),
                    (post(key, length: 99_999_999), 413),
                ]
                for (head, status) in refused {
                    let answer = await RawConnection.exchange([(head, 1), (probe, 0)], port: port)
                    #expect(answer.statuses == [status], "\(answer.text)")
                    #expect(answer.text.lowercased().contains("\r\nconnection: close\r\n") && answer.isEnded)
                }
            }
        }
    }
}
