import HTTPServer
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("How long a state is fresh")
struct FreshnessTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private static func confirmed(_ age: Int64, freshFor: Int64) -> Freshness {
        Freshness(confirmedAt: now - .seconds(age), freshFor: .seconds(freshFor))
    }

    @Test(
        "confirmed, silent, stale, lost: of a match by five minutes, half an hour and six hours; of others by freshFor, and twelve times that",
        arguments: [
            (1800, 300, 299, FeedState.confirmed), (1800, 300, 300, .silent), (1800, 300, 1800, .silent), (1800, 300, 1801, .stale),
            (1800, 300, 21_600, .stale), (1800, 300, 21_601, .lost),
            (600, 600, 599, .confirmed), (600, 600, 600, .silent), (600, 600, 601, .stale), (600, 600, 21_600, .stale),
            (600, 600, 21_601, .lost),
            (3600, 3600, 3599, .confirmed), (3600, 3600, 3601, .stale), (3600, 3600, 43_200, .stale), (3600, 3600, 43_201, .lost),
        ]
    )
    func state(_ freshFor: Int64, _ silentAfter: Int64, _ age: Int64, _ expected: FeedState) {
        let freshness = Self.confirmed(age, freshFor: freshFor)
        #expect(FeedState(isLive: true, freshness, silentAfter: .seconds(silentAfter), now: Self.now) == expected)
        #expect(FeedState(isLive: false, freshness, silentAfter: .seconds(silentAfter), now: Self.now) == .confirmed)
        #expect(freshness.isFresh(now: Self.now) == (age <= freshFor) && freshness.isLost(now: Self.now) == (expected == .lost))
    }

    @Test(
        "the stale date: freshFor after the confirmation, or the caller's moment if that is earlier; without both half an hour after the state",
        arguments: [
            (nil, nil, 1800), (nil, 900, 900), (600, nil, 500), (600, 900, 500), (600, 300, 300),
            // A moment that has passed: at once.
            (600, -50, 1), (60, nil, 1),
        ] as [(Int64?, Int64?, Int64)]
    )
    func staleDate(_ freshFor: Int64?, _ staleAt: Int64?, _ expected: Int64) {
        var subject = LiveSubject(
            id: "FootballActivityAttributes/ars-che",
            attributesType: "FootballActivityAttributes",
            attributes: "{}",
            state: "{}",
            stateHash: "h",
            timestamp: Self.now.seconds,
            builtAt: Self.now,
            event: .quiet,
            startAlert: LiveSubject.Alert(title: "Arsenal", body: "Kick-off"),
            isLive: true,
            isOver: false,
            epoch: 1
        )
        subject.freshness = freshFor.map { Self.confirmed(100, freshFor: $0) }
        subject.staleAt = staleAt.map { Self.now + .seconds($0) }
        #expect(LivePayloads.staleDate(subject) == Self.now + .seconds(expected))
    }

    private static let type =
        #"{"name": "A", "attributes": {"type": "object"}, "contentState": {"type": "object", "properties": {"n": {"type": "integer"}}}"#

    @Test(
        "the type's file: seconds, from two minutes to a day",
        arguments: [
            ("120", 120), ("600", 600), ("86400", 86_400), ("119", nil), ("86401", nil), ("1.5", nil), (#""600""#, nil),
        ] as [(String, Int64?)]
    )
    func file(_ value: String, _ seconds: Int64?) throws {
        let json = try JSONParser.parse(Array((Self.type + #", "freshFor": \#(value)}"#).utf8))
        guard let seconds else {
            #expect(throws: SchemaError.self) { try AttributesType(file: json) }
            return
        }
        #expect(try AttributesType(file: json).freshFor == .seconds(seconds))
    }

    @Test(
        "what confirms: the known state again, also with its number; not an older number, nor another state with the known number",
        arguments: [
            (7, 1, true), (7, 2, false), (6, 1, false), (nil, 1, true),
        ] as [(Int64?, Int, Bool)]
    )
    func confirms(_ sequence: Int64?, _ state: Int, _ expected: Bool) throws {
        let type = try AttributesType(file: try JSONParser.parse(Array((Self.type + "}").utf8)))
        let number = sequence.map { #", "sequence": \#($0)"# } ?? ""
        let body = try JSONParser.parse(Array(#"{"contentState": {"n": \#(state)}\#(number)}"#.utf8))
        let put = try SubjectPut(body, id: "a", type: type, now: Self.now)
        var stored = StoredState(attributes: "{}", hash: CustomQueries.hash(#"{"n":1}"#), isOver: false)
        stored.sequence = sequence == nil ? nil : 7
        #expect(try put.verdict(on: stored).confirms == expected)
    }
}
