import Foundation
package import HTTPClient
import Logging
package import PushContract
import ServiceKit
import ServiceLifecycle

/// Plays the script of a subject over and over until shutdown, each time as a subject of its own, through the API: the follows, each state
/// when it is due, and the end. At shutdown what is being shown is ended.
package struct RepeatedSubject: Service {
    package typealias Send = @Sendable (OutboundRequest) async throws -> OutboundResponse

    /// What is reported of it.
    package enum News: Sendable, Hashable {
        /// The server took a state.
        case shown(path: String, state: Int)
        /// The server took the last state.
        case over(path: String)
    }

    /// The server did not take a request; the subject is left, and ended before the next one begins.
    package struct Refused: Error, CustomStringConvertible {
        package var description: String
    }

    private let script: SubjectScript
    private let followers: [String]
    private let rest: Duration
    private let url: String
    private let key: String
    private let send: Send
    private let pause: @Sendable (SubjectScript.State) async throws -> Void
    private let notify: @Sendable (News) async -> Void

    /// - Parameters:
    ///   - followers: users who follow each subject.
    ///   - rest: from the end of a subject to the begin of the next.
    ///   - key: an API key with the scopes `sends:write` and `sends:read`.
    ///   - pause: how waiting while a state is shown is done; a test gives its own.
    package init(
        _ script: SubjectScript,
        followers: [String],
        rest: Duration = .seconds(120),
        url: String,
        key: String,
        send: @escaping Send,
        pause: @escaping @Sendable (SubjectScript.State) async throws -> Void = { try await Task.sleep(for: $0.duration) },
        notify: @escaping @Sendable (News) async -> Void = { _ in }
    ) {
        self.script = script
        self.followers = followers
        self.rest = rest
        self.url = url
        self.key = key
        self.send = send
        self.pause = pause
        self.notify = notify
    }

    package func run() async throws {
        let logger = Logger(label: "pushwatch.subjects")
        let service = PeriodicService("repeated subject", every: rest, logger: logger) { _ = try await playOnce() }
        try await service.run()
        // Without it the subject stays live until the next start; nothing else depends on it.
        try? await endUnfinished()
    }

    /// One subject from its first state to its last; its path.
    package func playOnce(now: @Sendable () -> Timestamp = { .now() }) async throws -> String {
        // What a run left that was killed.
        try await endUnfinished()
        let path = "/live/\(script.type)/demo-\(now().seconds)"
        for follower in followers { try await call("PUT", "\(path)/followers/\(follower)") }
        for (number, state) in script.states.enumerated() {
            try await call("PUT", path, body: state.body(now: now()).bytes())
            await notify(.shown(path: path, state: number))
            try await pause(state)
        }
        await notify(.over(path: path))
        return path
    }

    private struct Listed: Decodable {
        struct Subject: Decodable {
            var type: String
            var id: String
            var live: Bool
        }

        var subjects: [Subject]
    }

    private func endUnfinished() async throws {
        let list = try JSONDecoder().decode(Listed.self, from: Data(try await call("GET", "/live?limit=1000")))
        for subject in list.subjects where subject.live && subject.type == script.type && subject.id.hasPrefix("demo-") {
            try await call("DELETE", "/live/\(subject.type)/\(subject.id)")
        }
    }

    @discardableResult
    private func call(_ method: String, _ path: String, body: [UInt8]? = nil) async throws -> [UInt8] {
        var headers: HeaderFields = [("authorization", "Bearer \(key)")]
        if body != nil { headers.append("content-type", "application/json") }
        let request = OutboundRequest(method: method, url: url + path, headers: headers, body: body ?? [], timeout: .seconds(10))
        let response = try await send(request)
        guard (200..<300).contains(response.status) else {
            throw Refused(description: "\(method) \(path): \(response.status) \(String(decoding: response.body, as: UTF8.self))")
        }
        return response.body
    }
}
