import Attempts
import Delivery
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Postgres
import Providers
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import LiveActivities

@Suite("Alerts of Live Activities")
struct AlertTests {
    private static let base = "/live-activities/PagerActivityAttributes"

    private static func state(_ message: String) -> String {
        """
        {"sender": "Ops", "message": "\(message)", "timestamp": 1, "isDemo": false, "messageIndex": 0, "totalMessages": 1}
        """
    }

    /// A pager that runs on one phone.
    private func withPager(_ body: @Sendable (LiveRoutes) async throws -> Void) async throws {
        try await LiveRoutes.with { routes in
            try await routes.bench.phone("ann", "phone", 1)
            let start = """
                {"activityId": "p1", "uid": "ann", "attributes": {"recipient": "Ann"}, "contentState": \(Self.state("start")),
                 "alert": {"title": "Pager", "body": "start"}}
                """
            #expect(try await routes.call("\(Self.base)/start", .post, as: "service", start).status == .accepted)
            try await routes.bench.run()
            let token = #"{"activityId": "p1", "deviceId": "phone", "updateToken": "\#(LiveBench.updateToken(1))"}"#
            #expect(try await routes.call("\(Self.base)/activity-token", .post, as: "ann", token).status == .ok)
            try await routes.bench.run()
            routes.bench.apns.forget()
            try await body(routes)
        }
    }

    /// An update with an alert, and at once one without; what the answer to the first says.
    private func page(_ routes: LiveRoutes, _ number: Int, critical: Bool = true) async throws -> String {
        let alerting = """
            {"activityId": "p1", "contentState": \(Self.state("alert \(number)")), "critical": \(critical),
             "alert": {"title": "Pager", "body": "alert \(number)"}}
            """
        let answer = try await routes.call("\(Self.base)/update", .post, as: "service", alerting)
        #expect(answer.status == .accepted)
        let plain = #"{"activityId": "p1", "contentState": \#(Self.state("plain \(number)"))}"#
        #expect(try await routes.call("\(Self.base)/update", .post, as: "service", plain).status == .accepted)
        return String(buffer: answer.body)
    }

    private func alerts(_ routes: LiveRoutes) -> [String] {
        routes.bench.apns.calls.compactMap { $0.aps["alert"]?["body"]?.string }
    }

    @Test("ten critical updates, each followed at once by a plain one: each alert goes out once, in order, with the newest state")
    func everyAlert() async throws {
        try await withPager { routes in
            for number in 1...10 {
                _ = try await page(routes, number)
                try await routes.bench.run()
            }
            #expect(alerts(routes) == (1...10).map { "alert \($0)" })
            let states = routes.bench.apns.calls.map(\.contentState)
            #expect(zip(1...10, states).allSatisfy { $1.contains("plain \($0)") })
            #expect(routes.bench.apns.calls.allSatisfy { $0.message.priority == .high })
        }
    }

    @Test("alerts that come faster than they leave are merged into the newest of the most important, and the answers say that they wait")
    func merged() async throws {
        try await withPager { routes in
            for number in 1...10 {
                let answer = try await page(routes, number, critical: number <= 7)
                #expect(answer.contains(#""alertsWaiting":\#(number - 1)"#))
            }
            try await routes.bench.run()
            #expect(alerts(routes) == ["alert 7"])
            #expect(routes.bench.apns.calls.count == 1)
            let again = try await page(routes, 11)
            #expect(again.contains(#""alertsWaiting":0"#))
            try await routes.bench.run()
            #expect(alerts(routes) == ["alert 7", "alert 11"])
        }
    }

    @Test("an update that is sent twice alerts once; two minutes later it is another one")
    func sentTwice() async throws {
        try await withPager { routes in
            let bench = routes.bench
            let update = """
                {"activityId": "p1", "contentState": \(Self.state("again")), "alert": {"title": "Pager", "body": "again"}}
                """
            for _ in 1...2 {
                let answer = try await routes.call("\(Self.base)/update", .post, as: "service", update)
                #expect(answer.status == .accepted && String(buffer: answer.body).contains(#""alertsWaiting":0"#))
            }
            try await bench.run()
            #expect(try await routes.call("\(Self.base)/update", .post, as: "service", update).status == .accepted)
            try await bench.run()
            #expect(bench.apns.calls.count == 1)
            bench.clock.advance(.seconds(121))
            #expect(try await routes.call("\(Self.base)/update", .post, as: "service", update).status == .accepted)
            try await bench.run()
            #expect(alerts(routes) == ["again", "again"])
        }
    }

    /// Alerts that did not arrive, as their senders learn of them.
    private func undelivered(_ bench: LiveBench) async throws -> [JSONValue] {
        try await OutcomeStream(pool: bench.pool).page(after: .start, limit: 1000).outcomes.filter { $0["alert"] != nil }
    }

    @Test("an alert that a device was not sent is reported: what another one stood for, what was too old, what was refused")
    func reported() async throws {
        try await withPager { routes in
            let bench = routes.bench
            for number in 1...3 { _ = try await page(routes, number) }
            try await bench.run()
            #expect(alerts(routes) == ["alert 3"])
            var outcomes = try await undelivered(bench)
            #expect(outcomes.map { $0["event"] } == ["superseded", "superseded"])
            for outcome in outcomes {
                #expect(outcome["alert"]?["type"] == "PagerActivityAttributes" && outcome["alert"]?["id"] == "p1")
                #expect(outcome["alert"]?["title"] == "Pager" && outcome["uid"] == "ann" && outcome["deviceId"] == "phone")
                #expect(outcome["attempts"] == 0 && outcome["sendId"] == nil && outcome["app"] != nil && outcome["cursor"] != nil)
            }
            #expect(Set(outcomes.compactMap { $0["alert"]?["timestamp"] }).count == 2)
            // Refused for good.
            bench.apns.answer(LiveBench.updateToken(1), .apns(413, "PayloadTooLarge"))
            _ = try await page(routes, 4)
            try await bench.run()
            // It waits for an answer for too long.
            bench.apns.answer(LiveBench.updateToken(1), .apns(503, "ServiceUnavailable"))
            _ = try await page(routes, 5)
            try await bench.run()
            #expect(try await undelivered(bench).count == 3)
            bench.clock.advance(.seconds(130))
            try await bench.run()
            // The token is dead.
            bench.apns.answer(LiveBench.updateToken(1), .apns(410, "Unregistered"))
            _ = try await page(routes, 6)
            try await bench.run()
            outcomes = try await undelivered(bench)
            #expect(outcomes.map { $0["event"] } == ["superseded", "superseded", "failed", "expired", "failed"])
            #expect(outcomes.map { $0["providerErrorCode"] } == [nil, nil, "PayloadTooLarge", nil, "Unregistered"])
            #expect(outcomes.map { $0["reasonCode"] } == [nil, nil, "unknown", nil, "token_not_registered"])
            #expect(outcomes.map { $0["attempts"] } == [0, 0, 1, 0, 1])
            let only = OutcomeStream.Filter(apps: ["com.example.other"])
            #expect(try await OutcomeStream(pool: bench.pool).page(after: .start, only, limit: 1000).outcomes.isEmpty)
            let lines = try await Fsck([QueueCheck()], pool: bench.pool, pause: .zero, now: .now()).run().lines
            #expect(lines.allSatisfy { $0.faultCount == 0 })
            try await bench.devices.erase(userId: "ann", requestId: "erase", recording: .test(at: bench.now))
            #expect(try await undelivered(bench).isEmpty)
        }
    }

    @Test("an alert is repeated after an unknown outcome, with the newest state, and not by a heartbeat")
    func repeated() async throws {
        try await withPager { routes in
            routes.bench.apns.answer(LiveBench.updateToken(1), .unanswered)
            _ = try await page(routes, 1)
            try await routes.bench.run()
            routes.bench.clock.advance(.seconds(1))
            try await routes.bench.run()
            #expect(alerts(routes) == ["alert 1", "alert 1"])
            routes.bench.clock.advance(.seconds(901))
            try await routes.bench.run()
            #expect(routes.bench.apns.calls.count == 3)
            #expect(alerts(routes).count == 2)
        }
    }

    @Test("an alert that waits when the activity ends goes with the end, and one that waits at its start with the start")
    func startAndEnd() async throws {
        try await withPager { routes in
            for number in 0...1 { _ = try await page(routes, number) }
            #expect(try await routes.call("\(Self.base)/end", .post, as: "service", #"{"activityId": "p1"}"#).status == .accepted)
            try await routes.bench.run()
            #expect(routes.bench.apns.calls.map(\.event) == ["end"])
            #expect(alerts(routes) == ["alert 1"])
            #expect(try await undelivered(routes.bench).map { $0["event"] } == ["superseded"])
        }
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            try await bench.score(runs: 1)
            _ = try await bench.engine.turn(all: true)
            try await bench.score(runs: 2, event: ("four", 8), alert: "FOUR!")
            try await bench.score(runs: 3, event: ("wicket", 5), alert: "WICKET!")
            try await bench.score(runs: 4)
            try await bench.run()
            #expect(bench.apns.calls.map(\.event) == ["start"])
            #expect(bench.apns.calls[0].aps["alert"]?["title"]?.string == "WICKET!")
            #expect(try await undelivered(bench).map { $0["alert"]?["title"] } == ["FOUR!"])
        }
    }

    @Test("a match's alerts have the default sound; what a caller sets for a custom activity goes out as it is")
    func members() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            try await bench.score(runs: 2, event: ("wicket", 5), alert: "WICKET!")
            try await bench.run()
            #expect(bench.apns.calls.compactMap { $0.aps["alert"]?["sound"]?.string } == ["default", "default"])
            #expect(bench.apns.calls.allSatisfy { $0.aps["interruption-level"] == nil && $0.aps["relevance-score"] == nil })
        }
        try await withPager { routes in
            let staleAt = Timestamp(seconds: routes.bench.now.seconds + 90)
            let update = """
                {"activityId": "p1", "contentState": \(Self.state("now")), "relevanceScore": 75.5, "staleAt": "\(staleAt.rfc3339)",
                 "alert": {"title": "Pager", "body": "now", "sound": "siren.caf", "interruptionLevel": "time-sensitive"}}
                """
            #expect(try await routes.call("\(Self.base)/update", .post, as: "service", update).status == .accepted)
            try await routes.bench.run()
            let aps = try #require(routes.bench.apns.calls.first).aps
            #expect(aps["alert"]?["sound"]?.string == "siren.caf" && aps.text("interruption-level") == "time-sensitive")
            #expect(aps.integer("stale-date") == staleAt.seconds && aps["relevance-score"] == .number(75.5))
            // A heartbeat keeps the score, and does not make the state look newer than its caller said.
            routes.bench.clock.advance(.seconds(901))
            try await routes.bench.run()
            let heartbeat = try #require(routes.bench.apns.calls.last).aps
            #expect(heartbeat.integer("stale-date") == heartbeat.integer("timestamp") + 1)
            #expect(heartbeat["relevance-score"] == .number(75.5) && heartbeat["interruption-level"] == nil)
            let dismissAt = Timestamp(seconds: routes.bench.now.seconds + 3600)
            let end = """
                {"activityId": "p1", "dismissAt": "\(dismissAt.rfc3339)", "alert": {"title": "Pager", "body": "over", "sound": "none"}}
                """
            #expect(try await routes.call("\(Self.base)/end", .post, as: "service", end).status == .accepted)
            try await routes.bench.run()
            let last = try #require(routes.bench.apns.calls.last).aps
            #expect(last.integer("dismissal-date") == dismissAt.seconds)
            #expect(last["alert"]?["body"]?.string == "over" && last["alert"]?["sound"] == nil)
        }
    }

    @Test(
        "what Apple would ignore or cut is refused with its place",
        arguments: [
            ("update", #""staleAt": "2001-01-01T00:00:00Z""#, "/staleAt"), ("update", #""relevanceScore": "high""#, "/relevanceScore"),
            ("update", #""alert": {"title": "t", "body": "b", "interruptionLevel": "loud"}"#, "/alert/interruptionLevel"),
            ("update", #""alert": {"title": "t", "body": "b", "sound": ""}"#, "/alert/sound"),
            ("end", #""dismissAt": "2101-01-01T00:00:00Z""#, "/dismissAt"),
        ]
    )
    func refused(_ call: String, _ member: String, _ pointer: String) async throws {
        try await withPager { routes in
            let body = #"{"activityId": "p1", "contentState": \#(Self.state("now")), \#(member)}"#
            let answer = try await routes.call("\(Self.base)/\(call)", .post, as: "service", body)
            #expect(answer.status == .unprocessableContent && String(buffer: answer.body).contains(#""\#(pointer)""#))
        }
    }

    @Test("followers of a match get one content state; the alert is the one each of them lacks")
    func perDevice() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.running("bob", "phone-bob", 2)
            bench.apns.forget()
            bench.apns.answer(LiveBench.updateToken(2), .apns(503, "ServiceUnavailable"))
            try await bench.score(runs: 2, event: ("hundred", 4), alert: "HUNDRED!")
            try await bench.run()
            try await bench.score(runs: 3, event: ("wicket", 5), alert: "WICKET!")
            try await bench.score(runs: 4)
            bench.clock.advance(.seconds(1))
            try await bench.run()
            let last = Dictionary(grouping: bench.apns.calls, by: \.token).mapValues { $0[1] }
            #expect(Set(last.values.map(\.contentState)).count == 1 && Set(last.values.map(\.timestamp)).count == 1)
            #expect(last[LiveBench.updateToken(1)]?.aps["alert"]?["title"]?.string == "WICKET!")
            #expect(last[LiveBench.updateToken(2)]?.aps["alert"]?["title"]?.string == "HUNDRED!")
        }
    }

    @Test("of several alerts the most important is shown, of equals the newest; the others are counted as merged, or as too old")
    func rule() {
        let start = Timestamp(seconds: 1_800_000_000)
        let alerts = [5, 2, 5, 2, 8].enumerated().map { index, priority in
            SubjectAlert(
                timestamp: Int64(index + 1),
                builtAt: start + .seconds(index),
                priority: priority,
                alert: LiveSubject.Alert(title: "t", body: "\(index + 1)")
            )
        }
        func due(after timestamp: Int64, since: Timestamp? = nil, now: Duration = .seconds(5)) -> [Int] {
            let due = DueAlerts(alerts, after: timestamp, since: since, now: start + now)
            return [due.shown.flatMap { Int($0.alert.body) } ?? 0, due.merged.count, due.expired.count]
        }
        #expect(due(after: 0) == [4, 4, 0])
        #expect(due(after: 3) == [4, 1, 0])
        #expect(due(after: 4) == [5, 0, 0])
        #expect(due(after: 5) == [0, 0, 0])
        #expect(due(after: 0, since: start + .seconds(4)) == [5, 0, 0])
        #expect(due(after: 0, now: .seconds(123)) == [4, 1, 3])
        #expect(due(after: 0, now: .seconds(200)) == [0, 0, 5])
        #expect(DueAlerts.candidates(alerts, now: start + .seconds(5)).map(\.timestamp) == [5, 4])
    }
}

/// Alerts that do not fit what carries them.
extension AlertTests {
    private func subject(_ state: String, now: Timestamp) -> LiveSubject {
        LiveSubject(
            id: "T/1",
            attributesType: "T",
            attributes: "{}",
            state: state,
            stateHash: "h",
            timestamp: 2,
            builtAt: now,
            event: .quiet,
            startAlert: LiveSubject.Alert(title: "T", body: "begins"),
            isLive: true,
            isOver: false,
            epoch: 1
        )
    }

    @Test("an alert of an earlier state that does not fit the new one is left out; the state goes out")
    func tooLargeForState() throws {
        let now = Timestamp(seconds: 1_800_000_000)
        let text = LiveSubject.Alert(title: "Goal", body: String(repeating: "x", count: 500))
        let alert = SubjectAlert(timestamp: 1, builtAt: now, priority: 1, alert: text)
        let due = DueAlerts([alert], after: 0, since: nil, now: now)
        let small = try PublishedState(subject("{}", now: now), alerts: [alert], now: now)
        #expect(small.shown(due) == alert && small.message(due) != small.message)
        let large = subject(#"{"note":"\#(String(repeating: "y", count: 3600))"}"#, now: now)
        let published = try PublishedState(large, alerts: [alert], now: now)
        #expect(published.shown(due) == nil && published.message(due) == published.message)
    }

    @Test("a due alert that does not fit a start with its attributes is left out: the card appears with the start's own alert")
    func tooLargeForStart() async throws {
        try await LiveBench.with { bench in
            let name = "T/1"
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann", name)
            let attributes = #"{"text":"\#(String(repeating: "a", count: 500))"}"#
            let state = #"{"note":"\#(String(repeating: "y", count: 2900))"}"#
            try await bench.pool.execute(
                """
                INSERT INTO activitySubjects (subject, attributesType, attributes, contentState, stateHash, stateTimestamp, stateBuiltAt,
                    startAlertTitle, startAlertBody, createdAt, lastUpdatedAt)
                VALUES (\(name), 'T', \(attributes), \(state), 'h', \(bench.now.seconds), \(bench.now), 'T', 'begins',
                    \(bench.now), \(bench.now))
                """
            )
            _ = try await bench.engine.turn(all: true)
            let text = LiveSubject.Alert(title: "Goal", body: String(repeating: "x", count: 500))
            let newest: Query = "SELECT subject, stateTimestamp FROM activitySubjects"
            try await bench.pool.execute(AlertQueries.insert(text, priority: 1, of: newest, now: bench.now))
            try await bench.instance.send()
            #expect(bench.apns.calls("start").map { $0.aps["alert"]?["body"]?.string } == ["begins"])
        }
    }

    @Test("a due alert that does not fit the end is left out: the card is taken away")
    func tooLargeForEnd() async throws {
        try await LiveBench.with { bench in
            let name = "T/1"
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann", name)
            try await bench.pool.execute(
                """
                INSERT INTO activitySubjects (subject, attributesType, attributes, contentState, stateHash, stateTimestamp, stateBuiltAt,
                    startAlertTitle, startAlertBody, createdAt, lastUpdatedAt)
                VALUES (\(name), 'T', '{}', '{}', 'h', \(bench.now.seconds), \(bench.now), 'T', 'begins', \(bench.now), \(bench.now))
                """
            )
            try await bench.run()
            #expect(try await bench.postToken("ann", "phone", 1, match: name) == .adopt(1, replacing: nil))
            try await bench.run()
            bench.clock.advance(.seconds(60))
            let state = #"{"note":"\#(String(repeating: "y", count: 3800))"}"#
            let text = LiveSubject.Alert(title: "Full time", body: String(repeating: "x", count: 500))
            let ended: Query = """
                UPDATE activitySubjects SET contentState = \(state), stateHash = 'end', stateTimestamp = \(bench.now.seconds),
                    stateBuiltAt = \(bench.now), lastUpdatedAt = \(bench.now), endedAt = \(bench.now)
                RETURNING subject, stateTimestamp
                """
            let newest: Query = "SELECT subject, stateTimestamp FROM activitySubjects"
            _ = try await bench.pool.query(ended)
            try await bench.pool.execute(AlertQueries.insert(text, priority: 1, of: newest, now: bench.now))
            try await bench.run()
            let end = try #require(bench.apns.calls("end").first)
            #expect(end.aps["content-state"]?["note"] != nil && end.aps["alert"] == nil)
        }
    }
}
