import Foundation
import HTTPServer
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Postgres
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("GET /live")
struct SubjectListTests {
    private static func put(_ routes: LiveRoutes, _ id: String) async throws {
        let body = """
            {"attributes": {"home": "Arsenal", "away": "Chelsea"}, "startAlert": {"title": "Arsenal – Chelsea", "body": "Kick-off"},
             "contentState": {"phase": "firstHalf", "minute": 12, "homeGoals": 0, "awayGoals": 0}}
            """
        #expect(try await routes.call("/live/FootballActivityAttributes/\(id)", .put, as: "service", body).status == .created)
        routes.bench.clock.advance(.seconds(1))
    }

    private static func list(_ routes: LiveRoutes, _ query: String = "") async throws -> (subjects: [JSONValue], next: String?) {
        let answer = try await routes.call("/live\(query)", .get, as: "service")
        #expect(answer.status == .ok, "\(String(buffer: answer.body))")
        let json = try JSONParser.parse(Array(String(buffer: answer.body).utf8))
        let next = json["next"]?.string?.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        return (json["subjects"]?.elements ?? [], next)
    }

    @Test("matches and other subjects that have begun, each with its followers and its devices by their newest activity")
    func entries() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.phone("bob", "phone-bob", 2)
            for user in ["ann", "bob", "cid"] {
                _ = try await routes.call("/live/FootballActivityAttributes/a/followers/\(user)", .put, as: "service")
            }
            bench.clock.advance(.seconds(1))
            let began = bench.now
            try await Self.put(routes, "a")
            _ = try await routes.call("/user/follow/match", .post, as: "ann", #"{"matchId": "never-seen"}"#)
            let subjects = try await Self.list(routes).subjects
            try #require(subjects.map { $0["id"]?.string } == ["a", "m1"])
            let football = subjects[0]
            #expect(football["type"]?.string == "FootballActivityAttributes" && football["live"]?.bool == true)
            #expect(football["phase"]?.string == "live" && football["followers"]?.integer == 3)
            #expect(football["startedAt"]?.string == began.rfc3339 && football["stateAt"]?.string == began.rfc3339)
            #expect(football["activities"] == ["active": 0, "pending": 2, "ended": 0])
            #expect(football["confirmedAt"]?.string == began.rfc3339)
            try await bench.pool.execute("UPDATE activitySubjects SET freshFor = NULL")
            #expect(try await Self.list(routes).subjects[0]["confirmedAt"] == nil, "nothing confirms it")
            let match = subjects[1]
            #expect(match["type"]?.string == "MatchActivityAttributes" && match["confirmedAt"] != nil)
            #expect(match["activities"] == ["active": 1, "pending": 0, "ended": 0] && match["followers"]?.integer == 1)

            _ = try await routes.call("/live/FootballActivityAttributes/a", .delete, as: "service")
            try await bench.run()
            let ended = try await Self.list(routes).subjects[0]
            #expect(ended["live"]?.bool == false && ended["phase"]?.string == "ended" && ended["endedAt"] != nil)
            #expect(ended["activities"] == ["active": 0, "pending": 0, "ended": 2])
        }
    }

    @Test("a dead activity that is started again counts once, and a scheduled match has not begun")
    func counts() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.pool.execute(
                """
                INSERT INTO liveActivities (matchId, userId, deviceId, instance, status, endReason, attributesType, app, environment,
                    createdAt, endedAt)
                SELECT matchId, userId, deviceId, 2, 'ended', 'token_invalid', attributesType, app, environment, createdAt, createdAt
                FROM liveActivities
                """
            )
            #expect(try await Self.list(routes).subjects[0]["activities"] == ["active": 1, "pending": 0, "ended": 0])
            try await bench.pool.execute("UPDATE activeMatches SET phase = 'scheduled'")
            #expect(try await Self.list(routes).subjects.isEmpty)
        }
    }

    @Test("every subject is on one page, the newest first, also when states arrive between the pages")
    func pages() async throws {
        try await LiveRoutes.with { routes in
            for id in ["a", "b", "c", "d", "e"] { try await Self.put(routes, id) }
            // Two began at once.
            try await routes.bench.pool.execute(
                """
                UPDATE activitySubjects s SET createdAt = o.createdAt FROM activitySubjects o
                WHERE s.subject LIKE '%/c' AND o.subject LIKE '%/b'
                """
            )
            var (ids, query): ([String], String?) = ([], "?limit=2")
            while let page = query {
                let (subjects, next) = try await Self.list(routes, page)
                #expect(subjects.count <= 2)
                ids += subjects.compactMap { $0["id"]?.string }
                query = next.map { "?limit=2&after=\($0)" }
                let goal = #"{"contentState": {"phase": "firstHalf", "minute": 13, "homeGoals": \#(ids.count), "awayGoals": 0}}"#
                #expect(try await routes.call("/live/FootballActivityAttributes/a", .put, as: "service", goal).status == .ok)
            }
            #expect(ids == ["e", "d", "c", "b", "a"])
            for bad in ["?after=x", "?after=%5B%22x%22,%22y%22%5D", "?limit=0", "?limit=1001"] {
                #expect(try await routes.call("/live\(bad)", .get, as: "service").status == .badRequest, "\(bad)")
            }
            #expect(try await routes.call("/live", .get, as: "ann").status == .forbidden)
        }
    }
}
