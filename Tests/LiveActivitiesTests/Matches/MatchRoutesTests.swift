import Cricket
import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import PushContract
import TestDatabase
import Testing

@testable import LiveActivities

@Suite("PUT and GET /matches/{matchId}")
struct MatchRoutesTests {
    /// Bearer names the caller: `feed`, `other` (a key without the scope), anything else is a user.
    private struct Callers: Authenticator {
        func authenticate(_ request: Request) async throws -> Caller? {
            switch request.headers[.authorization] {
            case nil: nil
            case "feed": .key(id: "k", name: "feed", scopes: [.matchesWrite])
            case "other": .key(id: "o", name: "other", scopes: [.sendsWrite])
            case .some(let user): .user(userId: user)
            }
        }
    }

    private func withClient(_ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        try await withDatabase { pool in
            let router = HTTPRouter(authentication: AuthenticationMiddleware(Callers()))
            MatchRoutes(store: MatchStore(pool: pool), now: { MatchSamples.now }).add(to: router)
            try await Application(responder: router.buildResponder()).test(.router, body)
        }
    }

    private func put(
        _ client: any TestClientProtocol,
        _ score: MatchScore,
        path: String = "/matches/m1",
        caller: String = "feed",
        edit: (String) -> String = { $0 }
    ) async throws -> (status: Int, body: String) {
        let body = ByteBuffer(string: edit(String(decoding: score.json, as: UTF8.self)))
        let headers: HTTPFields = [.authorization: caller, .contentType: "application/json"]
        return try await client.execute(uri: path, method: .put, headers: headers, body: body) { ($0.status.code, String(buffer: $0.body)) }
    }

    @Test("a score goes in, the display state comes out; the same again is stale")
    func roundTrip() async throws {
        try await withClient { client in
            let scores = try MatchSamples.scores()
            let first = try await put(client, scores[1])
            #expect(first.status == 200)
            #expect(first.body == #"{"events":["match_start"],"matchId":"m1","phase":"live","result":"accepted","seq":1}"#)
            #expect(try await put(client, scores[1]).body.contains(#""result":"stale""#))
            for caller in ["anna", "feed"] {
                try await client.execute(uri: "/matches/m1", method: .get, headers: [.authorization: caller]) { response in
                    #expect(response.status == .ok)
                    #expect(response.headers[.eTag] == "\"1-\(MatchSamples.now.seconds)\"")
                    let state = try JSONDecoder().decode(UnifiedDisplayState.self, from: Data(response.body.readableBytesView))
                    #expect(state.title == "AT v BC")
                }
            }
            let known: HTTPFields = [.authorization: "anna", .ifNoneMatch: "\"1-\(MatchSamples.now.seconds)\""]
            try await client.execute(uri: "/matches/m1", method: .get, headers: known) { #expect($0.status == .notModified) }
        }
    }

    @Test("an id is one match, however it is escaped in a path")
    func escapedIds() async throws {
        try await withClient { client in
            let score = try MatchSamples.scores("cup:7-a")[1]
            #expect(try await put(client, score, path: "/matches/cup:7-a").status == 200)
            #expect(try await put(client, score, path: "/matches/cup%3A7%2Da").body.contains("stale"))
            try await client.execute(uri: "/matches/cup%3A7-a", method: .get, headers: [.authorization: "anna"]) {
                #expect($0.status == .ok)
            }
        }
    }

    @Test("who may: scores in by the scope matches:write alone, states out to users too")
    func access() async throws {
        try await withClient { client in
            let score = try MatchSamples.scores()[1]
            #expect(try await put(client, score, caller: "other").status == 403)
            #expect(try await put(client, score, caller: "anna").status == 403)
            try await client.execute(uri: "/matches/m1", method: .get, headers: [.authorization: "other"]) {
                #expect($0.status == .forbidden)
            }
            try await client.execute(uri: "/matches/m1", method: .get) { #expect($0.status == .unauthorized) }
            try await client.execute(uri: "/matches/m1", method: .get, headers: [.authorization: "anna"]) {
                #expect($0.status == .notFound)
            }
        }
    }

    @Test("what is wrong is said with its place")
    func faults() async throws {
        try await withClient { client in
            let score = try MatchSamples.scores()[1]
            let other = try await put(client, score, path: "/matches/m2")
            #expect(other.status == 422 && other.body.contains(#""pointer":"/matchId""#))
            let unknown = try await put(client, score) { $0.replacing(#""phase":"live""#, with: #""phase":"live","mood":"good""#) }
            #expect(unknown.status == 422 && unknown.body.contains("unknown_field") && unknown.body.contains(#""pointer":"/mood""#))
            let twice = try await put(client, score) { $0.replacing(#""phase":"live""#, with: #""phase":"live","phase":"live""#) }
            #expect(twice.status == 400 && twice.body.contains("malformed_json"))
            let unfollowable = try await put(client, try MatchSamples.scores("league/7")[1], path: "/matches/league%2F7")
            #expect(unfollowable.status == 422 && unfollowable.body.contains(#""pointer":"/matchId""#))
            var early = score
            early.updatedAt = MatchSamples.now + .seconds(301)
            let refused = try await put(client, early)
            #expect(refused.status == 422 && refused.body.contains(#""pointer":"/updatedAt""#))
            early.updatedAt = MatchSamples.now + .seconds(300)
            #expect(try await put(client, early).status == 200)
        }
    }

    @Test("a match that ended does not go on")
    func ended() async throws {
        try await withClient { client in
            let scores = try MatchSamples.scores()
            var last = scores[scores.count - 1]
            last.updatedAt = MatchSamples.now
            #expect(try await put(client, last).status == 200)
            var later = scores[3]
            later.sequence = 1_000
            let answer = try await put(client, later)
            #expect(answer.status == 409 && answer.body.contains("match_ended"))
        }
    }
}
