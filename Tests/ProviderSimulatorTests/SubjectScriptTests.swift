import Foundation
import HTTPClient
import PushContract
import ServiceKit
import Synchronization
import Testing

@testable import ProviderSimulator

@Suite("Scripts of subjects")
struct SubjectScriptTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private static func script(_ states: String) throws -> SubjectScript {
        let json = #"{"type": "T", "attributes": {"a": 1}, "startAlert": {"title": "t", "body": "b"}, "states": [\#(states)]}"#
        return try SubjectScript(json: Data(json.utf8))
    }

    @Test("the first state has the attributes and the start alert; moments are those of the sending")
    func bodies() throws {
        let script = try Self.script(
            #"{"seconds": 1.5, "contentState": {"at": "now", "in": ["now+90", "nowhere", "now+x"]}}, {"final": true, "contentState": {}}"#
        )
        #expect(script.states.map(\.duration) == [.milliseconds(1500), .zero] && script.states.map(\.isFinal) == [false, true])
        let first = script.states[0].body(now: Self.now)
        #expect(first["contentState"] == ["at": 1_800_000_000, "in": [1_800_000_090, "nowhere", "now+x"]])
        #expect(first["attributes"] == ["a": 1] && first["startAlert"]?["title"] == "t" && first["seconds"] == nil)
        #expect(script.states[1].body(now: Self.now) == ["final": true, "contentState": [:]])
    }

    @Test(
        "a script ends with its last state, and only there",
        arguments: ["", #"{"contentState": {}}"#, #"{"final": true}, {"contentState": {}}"#, #"{"final": true}, {"final": true}"#]
    )
    func malformed(states: String) { #expect(throws: SubjectScript.Malformed.self) { try Self.script(states) } }

    /// Answers as the API does, and keeps the requests.
    private final class Server: Sendable {
        private let state = Mutex([String]())
        let listed: String
        let refused: String?

        init(listed: String = "", refused: String? = nil) { (self.listed, self.refused) = (listed, refused) }

        var lines: [String] { state.withLock { $0 } }

        func take(_ request: OutboundRequest) -> OutboundResponse {
            let line = "\(request.method) \(request.url.dropFirst("http://server".count))"
            state.withLock { $0.append(line) }
            #expect(request.headers.contains { $0.name == "authorization" && $0.value == "Bearer key" })
            if line == refused { return OutboundResponse(status: 422, body: []) }
            return OutboundResponse(status: 200, body: Array(#"{"subjects": [\#(listed)]}"#.utf8))
        }
    }

    private static func play(_ server: Server) throws -> RepeatedSubject {
        RepeatedSubject(
            try script(#"{"contentState": {}}, {"final": true, "contentState": {}}"#),
            followers: ["ann", "ben"],
            url: "http://server",
            key: "key",
            send: { server.take($0) },
            pause: { _ in }
        )
    }

    @Test("what an earlier run left live is ended, then come the follows, the states and the end; nobody else's subject is touched")
    func requests() async throws {
        let others = #"{"type": "T", "id": "own", "live": true}, {"type": "U", "id": "demo-1", "live": true}"#
        let server = Server(
            listed: #"{"type": "T", "id": "demo-1", "live": true}, {"type": "T", "id": "demo-0", "live": false}, \#(others)"#
        )
        let path = try await Self.play(server).playOnce { Self.now }
        #expect(path == "/live/T/demo-1800000000")
        #expect(
            server.lines == [
                "GET /live?limit=1000", "DELETE /live/T/demo-1", "PUT \(path)/followers/ann", "PUT \(path)/followers/ben", "PUT \(path)",
                "PUT \(path)",
            ]
        )
    }

    @Test("a state that the server refuses ends the play, with what was refused")
    func refused() async throws {
        let server = Server(refused: "PUT /live/T/demo-1800000000")
        let refusal = try await #require(throws: RepeatedSubject.Refused.self) { try await Self.play(server).playOnce { Self.now } }
        #expect(refusal.description.hasPrefix("PUT /live/T/demo-1800000000: 422"))
        #expect(server.lines.count == 4)
    }
}
