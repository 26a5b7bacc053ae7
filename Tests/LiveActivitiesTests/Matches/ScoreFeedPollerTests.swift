import Cricket
import Foundation
import HTTPClient
import Logging
import Postgres
import PushContract
import ServiceLifecycle
import Synchronization
import TestDatabase
import Testing

@testable import LiveActivities

@Suite("Polled score feeds")
struct ScoreFeedPollerTests {
    @Test("a feed is asked every 5 s, less often when silent or over, with back-off when it fails")
    func pollInterval() {
        var pollInterval = FeedPollInterval()
        let now = MatchSamples.now
        #expect(pollInterval.wait(after: .changed, now: now) == .seconds(5))
        #expect(pollInterval.wait(after: .same, now: now + .seconds(299)) == .seconds(5))
        #expect(pollInterval.wait(after: .same, now: now + .seconds(300)) == .seconds(30))
        #expect(pollInterval.wait(after: .changed, now: now + .seconds(330)) == .seconds(5))
        #expect(pollInterval.wait(after: .over, now: now + .seconds(335)) == .seconds(60))
        func waits() -> [Duration] {
            (0..<8).map { _ in pollInterval.wait(after: .failed(retryAfter: nil), now: now + .seconds(400)) }
        }
        #expect(waits() == [10, 20, 40, 80, 160, 300, 300, 300].map { .seconds($0) })
        #expect(pollInterval.wait(after: .same, now: now + .seconds(340)) == .seconds(5))
        #expect(waits() == [10, 20, 30, 30, 30, 30, 30, 30].map { .seconds($0) }, "within a ball's time while a match is in play")
        #expect(pollInterval.wait(after: .failed(retryAfter: .seconds(900)), now: now) == .seconds(900))
        #expect(pollInterval.wait(after: .same, now: now + .seconds(401)) == .seconds(5))
    }

    @Test("feeds of one host share connections, and with no other host: one that hangs takes none of theirs")
    func connections() async {
        func group(_ url: String) async -> String? {
            var reader = FeedReader(ScoreFeed(url: url))
            var group: String?
            _ = await reader.read { request in
                group = request.connectionGroup
                return OutboundResponse(status: 304)
            }
            return group
        }
        let groups = await [group("https://a.example/1?key=x"), group("https://a.example/2"), group("https://b.example/1")]
        #expect(groups[0] == groups[1] && groups[1] != groups[2])
        #expect(!groups.contains(nil) && !groups.contains(""))
    }

    /// A feed that answers as a web server would, and remembers what it was asked.
    private final class Feed: Sendable {
        struct State {
            var body: [UInt8] = []
            var tag = "a"
            var status = 200
            var asked: [[String: String]] = []
        }

        let state = Mutex(State())

        func show(_ scores: [MatchScore], tag: String) {
            let list = scores.map { String(decoding: $0.json, as: UTF8.self) }.joined(separator: ",")
            state.withLock {
                $0.body = Array("[\(list)]".utf8)
                $0.tag = tag
            }
        }

        var send: ScoreFeedPoller.Send {
            { [self] request in
                let headers = Dictionary(request.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
                return state.withLock { state in
                    state.asked.append(headers)
                    guard state.status == 200 else { return OutboundResponse(status: state.status, headers: [("retry-after", "7")]) }
                    if headers["if-none-match"] == state.tag { return OutboundResponse(status: 304) }
                    return OutboundResponse(status: 200, headers: [("etag", state.tag)], body: state.body)
                }
            }
        }
    }

    private func poller(
        _ pool: PostgresPool,
        _ feed: Feed,
        owner: String = "a",
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) -> ScoreFeedPoller {
        ScoreFeedPoller(feeds: [], store: MatchStore(pool: pool), pool: pool, owner: owner, now: now, logger: .silent, send: feed.send)
    }

    @Test("news are stored, an unchanged answer costs a 304, an answer that was not taken in is asked for again")
    func conditional() async throws {
        try await withDatabase { pool in
            let feed = Feed()
            let scores = try MatchSamples.scores()
            var reader = FeedReader(ScoreFeed(url: "https://feed.example/m1?token=secret"))
            let poller = poller(pool, feed)
            feed.show([scores[1]], tag: "a")
            #expect(await poller.ask(&reader) == .changed)
            #expect(await poller.ask(&reader) == .same)
            feed.show([scores[2]], tag: "b")
            #expect(await poller.ask(&reader) == .changed)
            feed.state.withLock {
                $0.body = Array("[{]".utf8); $0.tag = "c"
            }
            #expect(await poller.ask(&reader) == .failed(retryAfter: nil))
            feed.show([scores[scores.count - 1]], tag: "c")
            #expect(await poller.ask(&reader) == .over, "the broken answer's tag was not kept")
            #expect(await poller.ask(&reader) == .over, "a 304 says so again")
            feed.state.withLock { $0.status = 503 }
            #expect(await poller.ask(&reader) == .failed(retryAfter: .seconds(7)))
            let asked = feed.state.withLock { $0.asked.map { $0["if-none-match"] } }
            #expect(asked == [nil, "a", "a", "b", "b", "c", "c"])
            #expect(try await pool.matchColumn("feedUrl") == "https://feed.example/m1", "a secret in the query is not stored")
            #expect(try await pool.matchColumn("pollerState") == "ended")
        }
    }

    @Test("the loop asks every 5 s, pays an unchanged answer with a 304, backs off while the feed fails, recovers, and ends at shutdown")
    func loop() async throws {
        try await withDatabase { pool in
            let feed = Feed()
            let clock = StepClock()
            let start = Timestamp.now()
            let scores = try MatchSamples.scores()
            feed.show([scores[1]], tag: "a")
            let poller = ScoreFeedPoller(
                feeds: [ScoreFeed(url: "https://feed.example/m1")],
                store: MatchStore(pool: pool),
                pool: pool,
                owner: "loop",
                clock: clock,
                now: { start + clock.now.offset },
                logger: .silent,
                send: feed.send
            )
            func asked() -> [String?] { feed.state.withLock { $0.asked.map { $0["if-none-match"] } } }
            let service = ServiceGroup(configuration: .init(services: [.init(service: poller)], logger: .silent))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await service.run() }
                // Two loops sleep: this feed's, and the one that looks for silent matches every half minute.
                #expect(await clock.sleepers(2) == [.seconds(5), .seconds(30)])
                #expect(asked() == [nil])
                clock.advance(by: .milliseconds(4_999))
                #expect(asked().count == 1, "not a moment sooner")
                clock.advance(by: .milliseconds(1))
                #expect(await clock.sleepers(2) == [.seconds(5), .seconds(25)])
                #expect(asked() == [nil, "a"])
                // Down: 10, then 20 seconds between questions.
                feed.state.withLock { $0.status = 503 }
                clock.advance(by: .seconds(5))
                #expect(await clock.sleepers(2) == [.seconds(10), .seconds(20)])
                clock.advance(by: .seconds(10))
                #expect(await clock.sleepers(2) == [.seconds(10), .seconds(20)])
                clock.advance(by: .seconds(10))
                #expect(await clock.sleepers(2) == [.seconds(10), .seconds(30)])
                #expect(asked() == [nil, "a", "a", "a"])
                // Up again, with news: the pace is the usual one at once.
                feed.state.withLock { $0.status = 200 }
                feed.show([scores[2]], tag: "b")
                clock.advance(by: .seconds(10))
                #expect(await clock.sleepers(2) == [.seconds(5), .seconds(20)])
                #expect(asked() == [nil, "a", "a", "a", "a"])
                #expect(try await pool.query("SELECT feedOwner FROM scoreFeeds")[0].decode(String.self) == "loop")
                // Five silent minutes: every half minute is enough.
                for _ in 0..<59 {
                    clock.advance(by: .seconds(5))
                    #expect(await clock.sleepers(2).contains(.seconds(5)))
                }
                clock.advance(by: .seconds(5))
                #expect(await clock.sleepers(2) == [.seconds(20), .seconds(30)])
                await service.triggerGracefulShutdown()
                try await group.waitForAll()
            }
            #expect(asked().count == 65)
            #expect(
                try await pool.query("SELECT 1 FROM scoreFeeds WHERE feedLeaseUntil IS NOT NULL").isEmpty,
                "another may begin at once"
            )
        }
    }

    @Test("headers and the token of a feed's file go with each request; a token that cannot be read stops it, and none is in the fault")
    func authentication() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("feed-\(UInt64.random(in: 0...UInt64.max))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appendingPathComponent("token")
        let feed = Feed()
        feed.state.withLock { $0.status = 503 }
        var reader = FeedReader(ScoreFeed(url: "https://feed.example/m1", headers: ["x-customer": "17"], tokenFile: file.path))
        for token in ["first", "second"] {
            try Data("\(token)\n".utf8).write(to: file)
            _ = await reader.read(feed.send)
        }
        #expect(feed.state.withLock { $0.asked.map { $0["authorization"] } } == ["Bearer first", "Bearer second"])
        #expect(feed.state.withLock { $0.asked.allSatisfy { $0["x-customer"] == "17" } })
        try Data("two\nlines".utf8).write(to: file)
        guard case .failed(let why, _) = await reader.read(feed.send) else { throw FeedReaderShouldFail() }
        #expect(why.contains(file.path) && !why.contains("lines"))
        #expect(feed.state.withLock { $0.asked.count } == 2)
    }

    private struct FeedReaderShouldFail: Error {}

    @Test("fields that a vendor adds are ignored at any depth; a wrong type is not")
    func unknownFields() async throws {
        let feed = Feed()
        let score = String(decoding: try MatchSamples.scores()[1].json, as: UTF8.self)
        let extended = score.replacing("{", with: #"{"x-vendor": {"a": 1}, "#)
        feed.state.withLock { $0.body = Array("[\(extended)]".utf8) }
        var reader = FeedReader(ScoreFeed(url: "https://feed.example/m1"))
        guard case .states(let states, _) = await reader.read(feed.send) else { throw FeedReaderShouldFail() }
        #expect(states == [try MatchSamples.scores()[1]])
        #expect(throws: FeedError.self) { try MatchScore.read(json: Array(extended.utf8)) }
        feed.state.withLock { $0.body = Array(extended.replacing(#""phase":"live""#, with: #""phase":7"#).utf8) }
        guard case .failed = await reader.read(feed.send) else { throw FeedReaderShouldFail() }
    }

    @Test(
        "of two sources the better one is heard; when it is silent for a minute the other one is, and hands back; nothing goes back in time"
    )
    func sources() async throws {
        try await withDatabase { pool in
            let (main, spare) = (Feed(), Feed())
            let clock = Mutex(MatchSamples.now)
            func poller(_ feed: Feed) -> ScoreFeedPoller { self.poller(pool, feed, now: { clock.withLock { $0 } }) }
            func wait(_ seconds: Int64) { clock.withLock { $0 = $0 + .seconds(seconds) } }
            func stored() async throws -> [String?] {
                [try await pool.matchColumn("feedUrl"), try await pool.matchColumn("feedState->>'sequence'")]
            }
            let (mainPoller, sparePoller) = (poller(main), poller(spare))
            var mainReader = FeedReader(ScoreFeed(url: "https://main.example"))
            var spareReader = FeedReader(ScoreFeed(url: "https://user:secret@spare.example/a@b?key=secret", priority: 2))
            let scores = try MatchSamples.scores()
            main.show([scores[2]], tag: "m2")
            #expect(await mainPoller.ask(&mainReader) == .changed)
            // The other one is ahead, has sequences of its own, and is not heard.
            var ahead = scores[3]
            ahead.sequence = 90_000
            spare.show([ahead], tag: "s3")
            #expect(await sparePoller.ask(&spareReader) == .same)
            #expect(try await stored() == ["https://main.example", "\(scores[2].sequence!)"])
            main.state.withLock { $0.status = 503 }
            wait(59)
            _ = await mainPoller.ask(&mainReader)
            #expect(await sparePoller.ask(&spareReader) == .same, "it says 304, and is not due yet")
            wait(1)
            #expect(await sparePoller.ask(&spareReader) == .changed, "it still says 304: what it said before is heard now")
            #expect(try await stored() == ["https://spare.example/a@b", "90000"], "without its secrets")
            // Back, with what it had before: behind, so the other one goes on.
            main.state.withLock { $0.status = 200 }
            #expect(await mainPoller.ask(&mainReader) == .same)
            #expect(try await stored() == ["https://spare.example/a@b", "90000"])
            // As far again, with a lower sequence and an older clock than the other's.
            main.show([scores[4]], tag: "m4")
            #expect(await mainPoller.ask(&mainReader) == .changed)
            #expect(try await stored() == ["https://main.example", "\(scores[4].sequence!)"])
            spare.show([scores[5]], tag: "s5")
            #expect(await sparePoller.ask(&spareReader) == .same)
            #expect(try await stored() == ["https://main.example", "\(scores[4].sequence!)"])
            // What is pushed is heard before all of them, and a feed again once the one who pushed is silent.
            _ = try await MatchStore(pool: pool).accept(scores[6], now: clock.withLock { $0 })
            main.show([scores[7]], tag: "m7")
            #expect(await mainPoller.ask(&mainReader) == .same)
            #expect(try await stored() == [nil, "\(scores[6].sequence!)"])
            wait(60)
            #expect(await mainPoller.ask(&mainReader) == .changed)
            #expect(try await stored() == ["https://main.example", "\(scores[7].sequence!)"])
        }
    }

    @Test("two feeds of one priority do not take turns, so a fifty is reported; when the one that is heard falls silent the other one is")
    func samePriority() async throws {
        try await withDatabase { pool in
            let (first, second) = (Feed(), Feed())
            let clock = Mutex(MatchSamples.now)
            func poller(_ feed: Feed) -> ScoreFeedPoller { self.poller(pool, feed, now: { clock.withLock { $0 } }) }
            func wait(_ seconds: Int64) { clock.withLock { $0 = $0 + .seconds(seconds) } }
            func score(_ batter: String, _ runs: Int, after seconds: Int64 = 0) throws -> MatchScore {
                let updatedAt = clock.withLock { ($0 + .seconds(seconds)).rfc3339 }
                let json =
                    #"{"matchId": "m1", "updatedAt": "\#(updatedAt)", "phase": "live", "#
                    + #""teams": [{"name": "Ash Town", "short": "AT"}, {"name": "Birch City", "short": "BC"}], "#
                    + #""innings": [{"number": 1, "team": "AT", "runs": \#(runs), "wickets": 0, "overs": "5.0", "#
                    + #""batters": [{"name": "\#(batter)", "runs": \#(runs), "balls": 30, "state": "batting"}]}]}"#
                return try MatchScore.read(json: Array(json.utf8))
            }
            func source() async throws -> String? { try await pool.matchColumn("feedUrl") }
            let (firstPoller, secondPoller) = (poller(first), poller(second))
            var firstReader = FeedReader(ScoreFeed(url: "https://first.example"))
            var secondReader = FeedReader(ScoreFeed(url: "https://second.example"))
            for runs in [46, 48, 50, 52] {
                first.show([try score("A. Haddad", runs)], tag: "\(runs)")
                #expect(await firstPoller.ask(&firstReader) == .changed)
                // Newer, and a run ahead.
                second.show([try score("Amal Haddad", runs + 1, after: 1)], tag: "\(runs)")
                #expect(await secondPoller.ask(&secondReader) == .same)
                #expect(try await source() == "https://first.example")
                wait(5)
            }
            let alerts = try await pool.query("SELECT body FROM activityAlerts").map { try $0.decode(String.self) }
            #expect(alerts == ["FIFTY! A. Haddad 50 (30)"])
            // The first one was confirmed 5 seconds ago, and is not asked again. After one failed question it would be after 15.
            wait(14)
            #expect(await secondPoller.ask(&secondReader) == .same)
            wait(1)
            #expect(await secondPoller.ask(&secondReader) == .changed)
            #expect(try await source() == "https://second.example")
            // Back at the same score, newer: it is heard when the other one is silent for a minute.
            wait(59)
            first.show([try score("A. Haddad", 53)], tag: "back")
            #expect(await firstPoller.ask(&firstReader) == .same)
            wait(1)
            #expect(await firstPoller.ask(&firstReader) == .changed)
            #expect(try await source() == "https://first.example")
            // A cache goes on answering for the first one, and play goes on.
            second.show([try score("Amal Haddad", 60)], tag: "60")
            for _ in 0..<11 {
                wait(5)
                #expect(await firstPoller.ask(&firstReader) == .same)
                #expect(await secondPoller.ask(&secondReader) == .same)
            }
            #expect(try await source() == "https://first.example")
            wait(5)
            #expect(await firstPoller.ask(&firstReader) == .same)
            #expect(await secondPoller.ask(&secondReader) == .changed)
            #expect(try await source() == "https://second.example")
        }
    }

    @Test("a match that cannot be used keeps no other of an answer from being heard, and the answer is asked for until each can")
    func oneUnusable() async throws {
        try await withDatabase { pool in
            let feed = Feed()
            var reader = FeedReader(ScoreFeed(url: "https://feed.example/m1"))
            let poller = poller(pool, feed)
            let (first, second) = (try MatchSamples.scores("m1")[1], try MatchSamples.scores("m2")[1])
            func known() async throws -> [String] {
                try await pool.query("SELECT matchId FROM activeMatches ORDER BY matchId").map { try $0.decode(String.self) }
            }
            // Wrong as it stands, and refused when it is taken in.
            feed.state.withLock { $0.body = Array("[{}, \(String(decoding: second.json, as: UTF8.self))]".utf8) }
            #expect(await poller.ask(&reader) == .changed)
            var early = first
            early.updatedAt = Timestamp.now() + .seconds(3600)
            feed.show([early, second], tag: "a")
            #expect(await poller.ask(&reader) == .same)
            #expect(try await known() == ["m2"])
            feed.show([first, second], tag: "a")
            #expect(await poller.ask(&reader) == .changed)
            #expect(await poller.ask(&reader) == .same)
            #expect(try await known() == ["m1", "m2"])
            #expect(feed.state.withLock { $0.asked.map { $0["if-none-match"] } } == [nil, nil, nil, "a"])
            feed.show([early], tag: "b")
            #expect(await poller.ask(&reader) == .failed(retryAfter: nil), "none can be used")
        }
    }

    @Test("a 304 confirms the matches of the last answer alone: one that it left out is heard of another source")
    func leftOut() async throws {
        try await withDatabase { pool in
            let (main, spare) = (Feed(), Feed())
            let clock = Mutex(MatchSamples.now)
            func poller(_ feed: Feed) -> ScoreFeedPoller { self.poller(pool, feed, now: { clock.withLock { $0 } }) }
            var mainReader = FeedReader(ScoreFeed(url: "https://main.example"))
            var spareReader = FeedReader(ScoreFeed(url: "https://spare.example", priority: 2))
            let (first, second) = (try MatchSamples.scores("m1"), try MatchSamples.scores("m2"))
            main.show([first[2], second[2]], tag: "a")
            #expect(await poller(main).ask(&mainReader) == .changed)
            main.show([second[2]], tag: "b")
            #expect(await poller(main).ask(&mainReader) == .same)
            clock.withLock { $0 = $0 + .seconds(70) }
            #expect(await poller(main).ask(&mainReader) == .same)
            #expect(main.state.withLock { $0.asked.last?["if-none-match"] } == "b")
            for (matchId, seconds) in [("m1", Int64(0)), ("m2", 70)] {
                let confirmedAt = try await pool.matchColumn("extract(epoch FROM confirmedAt)::bigint", matchId)
                #expect(confirmedAt == "\(MatchSamples.now.seconds + seconds)")
            }
            spare.show([first[3], second[3]], tag: "s")
            #expect(await poller(spare).ask(&spareReader) == .changed)
            #expect(try await pool.matchColumn("feedUrl", "m1") == "https://spare.example")
            #expect(try await pool.matchColumn("feedUrl", "m2") == "https://main.example")
        }
    }

    @Test("an answer in a vendor's format is mapped; one match that cannot be keeps no other from being heard, and none is a failure")
    func mapped() async throws {
        let mapping =
            #"{"each": "/m", "state": {"matchId": "/id", "updatedAt": {"path": "/at", "as": "epochSeconds"}, "phase": {"constant": "live"},"#
            + #" "teams": {"constant": [{"name": "A", "short": "A"}, {"name": "B", "short": "B"}]}}}"#
        let feed = Feed()
        var reader = FeedReader(
            ScoreFeed(url: "https://feed.example/m1", mapping: try FeedMapping(try MatchScore.parse(Array(mapping.utf8))))
        )
        feed.state.withLock { $0.body = Array(#"{"m": [{"id": "x", "at": "?"}, {"id": "y", "at": 1800000000, "new": 1}]}"#.utf8) }
        guard case .states(let states, let faults) = await reader.read(feed.send) else { throw FeedReaderShouldFail() }
        #expect(states.map(\.matchId) == ["y"] && faults.map(\.pointer) == ["/m/0/at"])
        feed.state.withLock { $0.body = Array(#"{"m": [{"id": "x", "at": "?"}]}"#.utf8) }
        guard case .failed(let why, _) = await reader.read(feed.send) else { throw FeedReaderShouldFail() }
        #expect(why.contains("/m/0/at"))
    }

    @Test("one instance polls a match; when its lease runs out another does")
    func lease() async throws {
        try await withDatabase { pool in
            let feed = Feed()
            feed.show([try MatchSamples.scores()[1]], tag: "a")
            var first = FeedReader(ScoreFeed(url: "https://feed.example/m1"))
            var second = first
            let (one, two) = (poller(pool, feed, owner: "one"), poller(pool, feed, owner: "two"))
            #expect(await one.ask(&first) == .changed)
            #expect(await one.ask(&first) == .same)
            #expect(await two.ask(&second) == nil)
            #expect(feed.state.withLock { $0.asked.count } == 2)
            try await pool.execute("UPDATE scoreFeeds SET feedLeaseUntil = clock_timestamp() - interval '1 second'")
            #expect(await two.ask(&second) == .same)
            #expect(await one.ask(&first) == nil)
            let lease = try await pool.query("SELECT feedOwner, feedEpoch FROM scoreFeeds")[0].decode((String, Int64).self)
            #expect(lease == ("two", 2))
        }
    }
}
