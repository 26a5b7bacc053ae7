import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
import PushContract
import Testing

@testable import Attempts

@Suite("Asking for a person's attempts")
struct AttemptListQueryTests {
    private func query(_ text: String) throws -> AttemptListQuery {
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/attempts?" + text)
        return try AttemptListQuery(Request(head: head, body: .init(buffer: ByteBuffer())), now: Sample.now)
    }

    @Test("a person, a token, since when, how many; a week and a hundred unless said")
    func read() throws {
        let plain = try query("uid=u%201")
        #expect(plain.uid == "u 1" && plain.tokenHash == nil && plain.limit == 100)
        #expect(plain.since == Sample.now - .seconds(7 * 86_400))
        let hash = "sha256:" + String(repeating: "0a", count: 32)
        let full = try query("uid=u-1&tokenHash=\(hash)&since=2026-03-01T00:00:00Z&limit=1000")
        #expect(full.tokenHash?.rawValue == hash && full.limit == 1000 && full.since == Timestamp(rfc3339: "2026-03-01T00:00:00Z"))
    }

    @Test(
        "what cannot be asked is refused with the parameter's name",
        arguments: [
            ("", "missing_parameter", "uid=… or tokenHash=…"), ("user=me", "unknown_parameter", "`user`"),
            ("uid=", "invalid_parameter", "`uid`"), ("uid=%00", "invalid_parameter", "control characters"),
            ("uid=a%C2%85", "invalid_parameter", "control characters"),
            ("uid=me&uid=you", "invalid_parameter", "`uid` is given more than once"),
            ("tokenHash=0a0a", "invalid_parameter", "never a token"), ("uid=me&since=yesterday", "invalid_parameter", "`since`"),
            ("uid=me&limit=0", "invalid_parameter", "`limit`"), ("uid=me&limit=1001", "invalid_parameter", "`limit`"),
        ]
    )
    func refused(text: String, code: String, sentence: String) {
        let problem = #expect(throws: Problem.self) { try query(text) }
        #expect(problem?.code == code && problem?.detail.contains(sentence) == true, "\(problem?.detail ?? "")")
    }
}
