import Cricket
import Foundation
import HTTPTypes
import HummingbirdTesting
import PushContract
import Testing

@testable import LiveActivities

@Suite("One definition for app and server")
struct MatchAttributesTests {
    /// What an app's ActivityKit reads of a push: the same structs, a default decoder.
    private struct Push: Decodable {
        struct APS: Decodable {
            enum CodingKeys: String, CodingKey {
                case event, attributes, timestamp
                case contentState = "content-state"
                case attributesType = "attributes-type"
            }

            var event: String
            var timestamp: Int64
            var attributesType: String?
            var attributes: MatchActivityAttributes?
            var contentState: MatchActivityAttributes.ContentState
        }

        var aps: APS
    }

    @Test("P-5.4: what the server sends of a match decodes into the struct that the app compiles, with a default decoder")
    func decodes() async throws {
        try await LiveBench.with { bench in
            let store = MatchStore(pool: bench.pool)
            let scores = try MatchSamples.scores()
            _ = try await store.accept(scores[0], now: bench.now)
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            for score in scores[1..<4] { _ = try await store.accept(score, now: bench.now) }
            try await bench.run()
            try await bench.postToken("ann", "phone", 1)
            for score in scores[4...] {
                bench.clock.advance(.seconds(1))
                _ = try await store.accept(score, now: bench.now)
                try await bench.run()
            }
            let pushes = try bench.apns.calls.map { try JSONDecoder().decode(Push.self, from: Data($0.bytes)).aps }
            #expect(Set(pushes.map(\.event)) == ["start", "update", "end"])
            let start = try #require(pushes.first { $0.event == "start" })
            #expect(start.attributesType == "MatchActivityAttributes")
            #expect(start.attributes == MatchActivityAttributes(matchId: "m1", title: start.contentState.title, instance: 1))
            #expect(pushes.allSatisfy { $0.contentState.matchId == "m1" && $0.contentState.v == 1 })
            let updates = pushes.filter { $0.event == "update" }
            #expect(updates.count > 5 && updates.allSatisfy { $0.timestamp == $0.contentState.updatedAt })
            #expect(zip(updates, updates.dropFirst()).allSatisfy { $0.contentState.seq < $1.contentState.seq })
            #expect(pushes.last?.contentState.phase == "ended")
        }
    }

    @Test("an id in a path may be percent-encoded; a broken encoding is 400")
    func paths() async throws {
        try await LiveRoutes.with { routes in
            try await routes.bench.score("cup:7", runs: 1)
            try await routes.bench.phone("ann", "phone", 1)
            try await routes.bench.follow("ann", "cup:7")
            try await routes.bench.run()
            let body = #"{"deviceId":"phone","updateToken":"\#(LiveBench.updateToken(1))"}"#
            let token = try await routes.call("/matches/cup%3A7/activity-token", .post, as: "ann", body)
            #expect(token.status == .ok)
            #expect(try await routes.bench.states(match: "cup:7") == ["active"])
            let broken = try await routes.call("/matches/cup%3/activity-token", .post, as: "ann", body)
            #expect(broken.status == .badRequest)
            let hidden = try await routes.call("/user/follow/match/cup%00", .delete, as: "ann")
            #expect(hidden.status == .badRequest)
            let unfollowed = try await routes.call("/user/follow/match/cup%3A7", .delete, as: "ann")
            #expect(unfollowed.status == .noContent)
            #expect(try await routes.bench.states(match: "cup:7") == ["ended/user_unfollow"])
        }
    }
}
