import Cricket
import Foundation
import HTTPClient
import PushContract
import Synchronization
import TestSupport
import Testing

@testable import ProviderSimulator

@Suite("A match is played to a server")
struct MatchFeederTests {
    /// Time as the feeder's own waits make it.
    private final class PlayTime: Sendable {
        private let moment: Mutex<Timestamp>

        init(_ start: Timestamp) { moment = Mutex(start) }

        var now: Timestamp { moment.withLock { $0 } }
        func pass(_ duration: Duration) { moment.withLock { $0 = $0 + duration } }
    }

    /// Takes states as the API does, and gives the answers of the test.
    private final class Server: Sendable {
        private let state = Mutex((scores: [(at: Timestamp, score: MatchScore)](), answers: [Int]()))
        let time: PlayTime

        init(_ time: PlayTime, answers: [Int] = []) {
            self.time = time
            state.withLock { $0.answers = answers }
        }

        var taken: [(at: Timestamp, score: MatchScore)] { state.withLock { $0.scores } }

        func take(_ request: OutboundRequest) throws -> OutboundResponse {
            let score = try MatchScore.read(json: Array(request.body))
            #expect(request.method == "PUT" && request.url == "http://server/matches/\(score.matchId)")
            #expect(request.headers.contains { $0.name == "authorization" && $0.value == "Bearer key" })
            return state.withLock { state in
                let status = state.answers.isEmpty ? 200 : state.answers.removeFirst()
                guard status == 200 else { return OutboundResponse(status: status, body: Array(#"{"detail":"Not so."}"#.utf8)) }
                state.scores.append((time.now, score))
                let receipt = #"{"result":"accepted","seq":1,"phase":"\#(score.phase.rawValue)","events":[]}"#
                return OutboundResponse(status: 200, body: Array(receipt.utf8))
            }
        }
    }

    private static let start = Timestamp(seconds: 1_800_000_000)

    private func script() throws -> MatchScript {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return MatchScript(try CricsheetMatch.read(json: Data(contentsOf: root.appending(path: "matches/demo.json"))))
    }

    private func feed(_ matchId: String = "m", startAt: Timestamp = start) throws -> ReplayFeed {
        ReplayFeed(ReplayPlan(try script(), startAt: startAt, pace: RepeatedMatch.quickPace), matchId: matchId)
    }

    private func feeder(_ feed: ReplayFeed, _ server: Server) -> MatchFeeder {
        MatchFeeder(feed: feed, url: "http://server", key: "key", send: { try server.take($0) }, pause: { server.time.pass($0) })
    }

    @Test("every state is sent in order, none before its time and none late, until the match is over")
    func whole() async throws {
        let time = PlayTime(Self.start - .seconds(10))
        let server = Server(time)
        let feed = try feed()
        let tally = try await feeder(feed, server).run { time.now }
        #expect(tally.sent == feed.messages.count && tally.failed == 0)
        let taken = server.taken
        #expect(taken.map(\.score.sequence) == feed.messages.map { Int64($0.step) })
        for (entry, message) in zip(taken, feed.messages) where message.step > 0 {
            let due = feed.plan.moment(ofMatchTime: message.milliseconds)
            #expect(entry.at >= due && entry.at - due < .seconds(1))
        }
        #expect(taken.allSatisfy { $0.score.updatedAt <= $0.at }, "a state of the future is refused")
        #expect(taken.last?.score.phase == .ended && taken.last?.score.result != nil)
        #expect(time.now - Self.start < .seconds(400), "a demo match takes some minutes")
    }

    @Test("while the server is unreachable the match goes on: the next state that is sent is the current one")
    func away() async throws {
        let time = PlayTime(Self.start)
        // The 20th state and the 14 tries after it find nobody.
        let server = Server(time, answers: Array(repeating: 200, count: 20) + Array(repeating: 503, count: 15))
        let feed = try feed()
        let tally = try await feeder(feed, server).run { time.now }
        #expect(tally.failed == 15)
        let sequences = server.taken.compactMap(\.score.sequence)
        #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 })
        #expect(sequences.count < feed.messages.count, "what nobody took is not sent again: the whole state follows")
        #expect(server.taken.last?.score.phase == .ended)
    }

    @Test("whoever joins in mid-match begins with the state of the moment")
    func joining() async throws {
        let feed = try feed()
        let time = PlayTime(Self.start + .seconds(100))
        let server = Server(time)
        _ = try await feeder(feed, server).run { time.now }
        let step = feed.plan.step(at: Self.start + .seconds(100))
        #expect(step > 10 && server.taken.first?.score.sequence == Int64(step))
    }

    @Test("what the server refuses for good ends the match with its words")
    func refused() async throws {
        let time = PlayTime(Self.start)
        let server = Server(time, answers: [200, 409])
        let feeder = feeder(try feed(), server)
        await #expect {
            try await feeder.run { time.now }
        } throws: { error in
            (error as? MatchFeeder.Refused)?.message == "The server refused the score (409). Not so."
        }
    }

    @Test("a match of an earlier run gets its last state before another begins; each match has an id of its own")
    func repeated() async throws {
        let time = PlayTime(.now())
        let server = Server(time)
        let news = Mutex<[RepeatedMatch.News]>([])
        let unfinished = RepeatedMatch.Fixture(startAt: .now() - .seconds(60))
        // At this speed a match is over as soon as it begins.
        let match = RepeatedMatch(
            try script(),
            pace: ReplayPace(millisecondsPerBall: 1, breakSeconds: 0, shortBreakSeconds: 0, speed: 1000),
            lead: .zero,
            rest: .milliseconds(1100),
            unfinished: unfinished,
            feeder: { feed in
                MatchFeeder(feed: feed, url: "http://server", key: "key", send: { try server.take($0) })
            },
            notify: { item in news.withLock { $0.append(item) } }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await match.run() }
            try await eventually("two matches are reported") { news.withLock { $0.count } >= 4 }
            group.cancelAll()
        }
        #expect(server.taken.first?.score.matchId == unfinished.matchId)
        #expect(server.taken.first?.score.phase == .ended)
        let reported = news.withLock { $0 }
        guard case .announced(let first) = reported[0], case .announced(let second) = reported[2] else {
            Issue.record("reported instead: \(reported)")
            return
        }
        #expect(reported[1] == .over(first) && reported[3] == .over(second))
        #expect(Set([first.matchId, second.matchId, unfinished.matchId]).count == 3)
    }
}
