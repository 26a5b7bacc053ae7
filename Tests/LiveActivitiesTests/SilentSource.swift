import HTTPServer
import Postgres
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

/// A source of a subject's state that may fall silent: the feed of a match, or a service that sends the state of a football match.
struct SilentSource: Sendable, CustomTestStringConvertible {
    var subject: String
    var freshFor: Int64
    /// Of its activities, after the last confirmation.
    var endsAfter: Int64

    static let all = [
        SilentSource(subject: "m1", freshFor: 1800, endsAfter: 6 * 3600),
        SilentSource(subject: "FootballActivityAttributes/ars-che", freshFor: 600, endsAfter: 6 * 3600),
        SilentSource(subject: "FootballActivityAttributes/ars-che", freshFor: 3600, endsAfter: 12 * 3600),
    ]

    var testDescription: String { "\(subject), \(freshFor) s" }
    var isMatch: Bool { !subject.contains("/") }

    /// A new state with each number.
    func send(_ number: Int, _ bench: LiveBench) async throws {
        if isMatch { return try await bench.score(subject, runs: number) }
        _ = try await put(number, bench)
    }

    /// The state of this number again.
    func confirm(_ number: Int, _ bench: LiveBench) async throws {
        if isMatch {
            try await bench.pool.execute(MatchQueries.confirm("matchId = \(subject)", now: bench.now))
        } else {
            #expect(try await put(number, bench) == .unchanged)
        }
    }

    private func put(_ number: Int, _ bench: LiveBench) async throws -> CustomActivityStore.PutResult {
        let name = NamedSubject(subject: subject)
        let type = try AttributesTypes(directory: LiveRoutes.typesDirectory).type(name.type)
        let isFirst = try await bench.count("SELECT count(*) FROM activitySubjects WHERE subject = \(subject)") == 0
        let first =
            isFirst
            ? #"""
            "attributes": {"home": "Arsenal", "away": "Chelsea"}, "startAlert": {"title": "Arsenal", "body": "Kick-off"},
            "freshFor": \#(freshFor),
            """# : ""
        let body = #"{\#(first) "contentState": {"phase": "firstHalf", "minute": \#(number), "homeGoals": 0, "awayGoals": 0}}"#
        let put = try SubjectPut(try JSONParser.parse(Array(body.utf8)), id: name.id, type: type, now: bench.now)
        return try await CustomActivityStore(pool: bench.pool).put(put, type: type, now: bench.now).result
    }

    func feed(_ bench: LiveBench) async throws -> FeedState? {
        let found = try #require(try await SubjectOverviewStore(pool: bench.pool).find(subject, now: bench.now))
        return found.source.map { FeedState(isLive: found.isLive, $0.freshness, silentAfter: $0.silentAfter, now: bench.now) }
    }
}
