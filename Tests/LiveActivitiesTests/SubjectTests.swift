import Foundation
import HTTPServer
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Postgres
import Providers
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

/// A football match of a registered type, with the followers Ann (two phones) and Bob: the mechanism of matches under another name.
@Suite("Subjects of any type")
struct SubjectTests {
    private static let path = "/live/FootballActivityAttributes/ars-che"
    private static let name = "FootballActivityAttributes/ars-che"

    private static func state(_ home: Int, _ more: String = "") -> String {
        """
        {"attributes": {"home": "Arsenal", "away": "Chelsea"}, "startAlert": {"title": "Arsenal – Chelsea", "body": "Kick-off"},
         "contentState": {"phase": "firstHalf", "minute": 12, "homeGoals": \(home), "awayGoals": 0}\(more)}
        """
    }

    /// Ann and Bob follow, their phones have started the card and posted their tokens.
    private static func running(_ routes: LiveRoutes) async throws {
        let bench = routes.bench
        try await bench.phone("ann", "phone", 1)
        try await bench.phone("ann", "tablet", 2)
        try await bench.phone("bob", "phone-bob", 3)
        for user in ["ann", "bob"] {
            #expect(try await routes.call("\(path)/followers/\(user)", .put, as: "service").status == .noContent)
        }
        #expect(try await routes.call(path, .put, as: "service", state(0)).status == .created)
        try await bench.run()
        for (user, device, number) in [("ann", "phone", 1), ("ann", "tablet", 2), ("bob", "phone-bob", 3)] {
            let token = #"{"activityId": "ars-che", "deviceId": "\#(device)", "updateToken": "\#(LiveBench.updateToken(number))"}"#
            let answer = try await routes.call("/live-activities/FootballActivityAttributes/activity-token", .post, as: user, token)
            #expect(answer.status == .ok, "\(user): \(String(buffer: answer.body))")
        }
        try await bench.run()
        bench.apns.forget()
    }

    private static func put(_ routes: LiveRoutes, _ body: String) async throws -> (status: HTTPResponse.Status, json: JSONMembers) {
        let answer = try await routes.call(path, .put, as: "service", body)
        let json = try JSONParser.parse(Array(String(buffer: answer.body).utf8))
        return (answer.status, json.members ?? [:])
    }

    private static func status(_ routes: LiveRoutes, _ query: String = "") async throws -> JSONMembers {
        let answer = try await routes.call(path + query, .get, as: "service")
        #expect(answer.status == .ok)
        return try JSONParser.parse(Array(String(buffer: answer.body).utf8)).members ?? [:]
    }

    private static func device(_ status: JSONMembers, _ userId: String, _ deviceId: String?) -> JSONMembers {
        guard case .array(let devices)? = status["devices"] else { return [:] }
        let found = devices.first { $0["userId"]?.string == userId && $0["deviceId"]?.string == deviceId }
        return found?.members ?? [:]
    }

    private static func member(_ name: String, _ routes: LiveRoutes, _ userId: String, _ deviceId: String) async throws -> String? {
        device(try await status(routes), userId, deviceId)[name]?.string
    }

    @Test("one PUT reaches every device of every follower with the same bytes, and each names the subject and the start in its attributes")
    func fanOut() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("ann", "tablet", 2)
            try await bench.phone("bob", "phone-bob", 3)
            try await bench.phone("eve", "phone-eve", 4)
            // A follow may come before the subject and after it.
            _ = try await routes.call("\(Self.path)/followers/ann", .put, as: "service")
            #expect(try await Self.put(routes, Self.state(0)).json["result"] == .string("created"))
            _ = try await routes.call("\(Self.path)/followers/bob", .put, as: "service")
            try await bench.run()
            let starts = bench.apns.calls("start")
            #expect(Set(starts.map(\.token)) == Set((1...3).map { LiveBench.startToken($0) }) && starts.count == 3)
            #expect(Set(starts.map(\.contentState)).count == 1)
            for start in starts {
                #expect(start.aps.text("attributes-type") == "FootballActivityAttributes")
                #expect(start.aps["attributes"]?["activityId"]?.string == "ars-che" && start.aps["attributes"]?["instance"]?.integer == 1)
                #expect(start.aps["alert"]?["body"]?.string == "Kick-off")
            }
            let list = try await routes.call("\(Self.path)/followers", .get, as: "service")
            #expect(String(buffer: list.body).hasSuffix(#""followers":["ann","bob"]}"#))
        }
    }

    @Test("more states than seconds: when their timestamps are far ahead of the clock, states are taken and activities started")
    func ahead() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await Self.running(routes)
            try await bench.pool.execute("UPDATE activitySubjects SET stateTimestamp = stateTimestamp + 1000")
            #expect(try await Self.put(routes, Self.state(1)).json["result"] == .string("accepted"))
            try await bench.phone("eve", "phone-eve", 4)
            _ = try await routes.call("\(Self.path)/followers/eve", .put, as: "service")
            try await bench.run()
            #expect(bench.apns.calls("update").count == 3)
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(4)])
        }
    }

    @Test("a state goes to all with its alert; the same again sends nothing, an older number is ignored, other attributes are a conflict")
    func updates() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await Self.running(routes)
            let goal = Self.state(1, #", "sequence": 7, "alert": {"title": "Goal", "body": "1–0"}"#)
            #expect(try await Self.put(routes, goal).json["result"] == .string("accepted"))
            try await bench.run()
            #expect(Set(bench.apns.calls("update").map(\.token)) == Set((1...3).map { LiveBench.updateToken($0) }))
            #expect(Set(bench.apns.calls.map(\.contentState)).count == 1)
            #expect(bench.apns.calls.allSatisfy { $0.aps["alert"]?["title"]?.string == "Goal" })
            bench.apns.forget()
            for goals in [2, 1] {
                let answer = try await Self.put(routes, Self.state(goals))
                #expect(answer.json["result"] == .string("accepted"), "a state without a number has no order")
            }
            #expect(try await Self.put(routes, Self.state(0, #", "sequence": 7"#)).json["result"] == .string("stale"))
            try await bench.run()
            bench.apns.forget()
            let quiet = #"{"contentState": {"phase": "firstHalf", "minute": 12, "homeGoals": 1, "awayGoals": 0}, "sequence": 8}"#
            #expect(try await Self.put(routes, quiet).json["result"] == .string("unchanged"), "the same state with the next number")
            #expect(try await Self.put(routes, Self.state(0, #", "sequence": 8"#)).json["result"] == .string("stale"))
            let other = Self.state(1).replacing("Chelsea\"}", with: "Leeds\"}")
            #expect(try await Self.put(routes, other).status == .conflict)
            let wrong = Self.state(1).replacing("firstHalf", with: "tea")
            #expect(try await Self.put(routes, wrong).status == .unprocessableContent)
            try await bench.run()
            #expect(bench.apns.calls.isEmpty)
        }
    }

    @Test("the first PUT makes activities of a portion of a large following; the engine makes the others")
    func largeFollowing() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            let followers = PendingActivities.portion + 100
            try await bench.followers(followers, of: Self.name)
            #expect(try await routes.call(Self.path, .put, as: "service", Self.state(0)).status == .created)
            #expect(try await bench.count("SELECT count(*) FROM liveActivities") == PendingActivities.portion)
            let made: Query = "SELECT count(*) FROM liveActivities"
            repeat { _ = try await bench.engine.turn(all: true) } while try await bench.count(made) < followers
            #expect(try await bench.count("SELECT count(DISTINCT userId) FROM liveActivities") == followers)
        }
    }

    @Test("the same state without a number sends nothing")
    func repeated() async throws {
        try await LiveRoutes.with { routes in
            try await Self.running(routes)
            let again = #"{"contentState": {"phase": "firstHalf", "minute": 12, "homeGoals": 0, "awayGoals": 0}}"#
            #expect(try await Self.put(routes, again).json["result"] == .string("unchanged"))
            #expect(try await Self.put(routes, Self.state(0)).json["result"] == .string("unchanged"), "with its startAlert")
            try await routes.bench.run()
            #expect(routes.bench.apns.calls.isEmpty)
            let other = Self.state(0).replacing("Kick-off", with: "Second half")
            #expect(try await Self.put(routes, other).json["result"] == .string("accepted"))
        }
    }

    @Test("an alert that is sent again with its state within two minutes alerts nobody again, unless it has a number of its own")
    func repeatedAlert() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await Self.running(routes)
            let alert = #", "alert": {"title": "Goal", "body": "1–0"}"#
            func results(_ bodies: [String]) async throws -> [String?] {
                var results: [String?] = []
                for body in bodies {
                    bench.clock.advance(.seconds(1))
                    results.append(try await Self.put(routes, body).json["result"]?.string)
                    try await bench.run()
                }
                return results
            }
            let goal = Self.state(1, alert)
            #expect(try await results([goal, goal, Self.state(1), goal]) == ["accepted", "unchanged", "unchanged", "unchanged"])
            #expect(bench.apns.calls.count == 3)
            let others = [Self.state(1, alert.replacing("1–0", with: "1–0, 12'")), Self.state(1, alert + #", "sequence": 1"#)]
            #expect(try await results(others + [Self.state(2, alert)]) == ["accepted", "accepted", "accepted"])
            bench.clock.advance(.seconds(121))
            #expect(try await results([Self.state(2, alert)]) == ["accepted"])
            #expect(bench.apns.calls.filter { $0.aps["alert"] != nil }.count == 15)
        }
    }

    @Test("a first PUT with an alert starts with that alert, and alerts once though it is sent twice")
    func firstAlert() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.phone("ann", "phone", 1)
            try await bench.fcmDevice("ann", "browser", 2, platform: .web)
            #expect(try await routes.call("\(Self.path)/followers/ann", .put, as: "service").status == .noContent)
            let first = Self.state(1, #", "alert": {"title": "GOAL", "body": "Arsenal 1–0"}"#)
            #expect(try await Self.put(routes, first).json["result"] == .string("created"))
            #expect(try await Self.put(routes, first).json["result"] == .string("unchanged"))
            try await bench.run()
            try await bench.postToken("ann", "phone", 1, match: Self.name, instance: 1)
            #expect(try await Self.put(routes, first).json["result"] == .string("unchanged"))
            try await bench.run()
            #expect(bench.apns.calls.compactMap { $0.aps["alert"]?["body"]?.string } == ["Arsenal 1–0"])
            #expect(bench.android(2).map(\.message.body) == ["Arsenal 1–0"])
        }
    }

    @Test(
        "freshFor: of the type, of a PUT instead of it; GET says when its source confirmed it and if it is fresh; the same state confirms"
    )
    func freshness() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            func feed(_ freshFor: Int64, _ feed: String, confirmedAt: Timestamp? = nil) async throws -> Bool {
                let status = try await Self.status(routes)
                return status["freshFor"]?.integer == freshFor && status["feed"]?.string == feed
                    && (confirmedAt == nil || status["confirmedAt"]?.string == confirmedAt?.rfc3339)
            }
            let first = Self.state(0, #", "sequence": 4"#)
            #expect(try await Self.put(routes, first).json["result"] == .string("created"))
            #expect(try await feed(600, "confirmed"))
            bench.clock.advance(.seconds(601))
            #expect(try await feed(600, "stale"))
            #expect(try await Self.put(routes, Self.state(0, #", "sequence": 3"#)).json["result"] == .string("stale"))
            #expect(try await feed(600, "stale"), "an older number confirms nothing")
            #expect(try await Self.put(routes, first).json["result"] == .string("stale"))
            #expect(try await feed(600, "confirmed", confirmedAt: bench.now))
            #expect(try await Self.put(routes, Self.state(0, #", "sequence": 5, "freshFor": 3600"#)).json["result"] == .string("accepted"))
            bench.clock.advance(.seconds(601))
            #expect(try await feed(3600, "confirmed"))
            #expect(try await Self.put(routes, Self.state(0, #", "sequence": 6"#)).json["result"] == .string("unchanged"))
            #expect(try await feed(3600, "confirmed"), "it stays as it is")
            let wrong = try await Self.put(routes, Self.state(0, #", "sequence": 7, "freshFor": 60"#))
            #expect(wrong.status == .unprocessableContent && wrong.json["pointer"]?.string == "/freshFor")
            _ = try await routes.call(Self.path, .delete, as: "service")
            bench.clock.advance(.seconds(7200))
            #expect(try await feed(3600, "confirmed"), "there is nothing to confirm any more")
            let pager = """
                {"attributes": {"recipient": "Ann"}, "startAlert": {"title": "Pager", "body": "Disk full"}, "contentState": {"sender": "Ops",
                 "message": "Disk full", "timestamp": 1800000000, "isDemo": false, "messageIndex": 0, "totalMessages": 1}}
                """
            #expect(try await routes.call("/live/PagerActivityAttributes/p1", .put, as: "service", pager).status == .created)
            let answer = String(buffer: try await routes.call("/live/PagerActivityAttributes/p1", .get, as: "service").body)
            #expect(!answer.contains("confirmedAt") && !answer.contains(#""feed""#))
        }
    }

    @Test("after a 410 the card starts again by itself, as instance 2; GET says what each device shows meanwhile, and why")
    func heals() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await Self.running(routes)
            bench.apns.answer(LiveBench.updateToken(1), .apns(410, "Unregistered"))
            _ = try await Self.put(routes, Self.state(1))
            try await bench.run(all: false)
            var status = try await Self.status(routes)
            #expect(status["activities"] == .object(["active": .integer(2), "pending": .integer(0), "ended": .integer(1)]))
            #expect(Self.device(status, "ann", "phone")["endReason"]?.string == "token_invalid")
            #expect(Self.device(status, "ann", "phone")["shows"]?.string == "nothing")
            #expect(Self.device(status, "bob", "phone-bob")["shows"]?.string == "newest")
            bench.apns.forget()
            try await bench.run()
            let start = try #require(bench.apns.calls("start").first)
            #expect(start.token == LiveBench.startToken(1) && start.aps["attributes"]?["instance"]?.integer == 2)
            #expect(start.contentState.contains(#""homeGoals":1"#))
            status = try await Self.status(routes)
            #expect(Self.device(status, "ann", "phone")["reason"]?.string == "waitsForToken")
            #expect(Self.device(status, "ann", "phone")["shows"]?.string == "unknown")
            try await bench.postToken("ann", "phone", 11, match: Self.name, instance: 2)
            try await bench.run()
            #expect(try await Self.member("shows", routes, "ann", "phone") == "newest")
        }
    }

    @Test("a swipe is an unfollow on all of the user's devices, and nobody else's; an unfollow by the service ends them too")
    func swipe() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await Self.running(routes)
            let swipe = #"{"activityId": "ars-che", "deviceId": "phone"}"#
            let answer = try await routes.call("/live-activities/FootballActivityAttributes/activity-dismissed", .post, as: "ann", swipe)
            #expect(String(buffer: answer.body).contains("unfollowed"))
            try await bench.run()
            #expect(bench.apns.calls("end").map(\.token) == [LiveBench.updateToken(2)])
            #expect(try await bench.states("ann", "phone", match: Self.name) == ["ended/user_dismissed"])
            #expect(try await bench.states("bob", "phone-bob", match: Self.name) == ["active"])
            bench.apns.forget()
            #expect(try await routes.call("\(Self.path)/followers/bob", .delete, as: "service").status == .noContent)
            try await bench.run()
            #expect(bench.apns.calls("end").map(\.token) == [LiveBench.updateToken(3)] && bench.apns.calls("start").isEmpty)
            let status = try await Self.status(routes)
            #expect(status["followers"]?.integer == 0)
            #expect(Self.device(status, "bob", "phone-bob")["endReason"]?.string == "user_unfollow")
        }
    }

    @Test("before the system's eight hours the next instance is started next to the old one, which ends when it is there")
    func rollsOver() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await Self.running(routes)
            bench.clock.advance(.seconds(27_000))
            try await bench.run()
            #expect(Set(bench.apns.calls("start").map(\.token)) == Set((1...3).map { LiveBench.startToken($0) }))
            #expect(try await bench.states("bob", "phone-bob", match: Self.name) == ["active", "pending"])
            #expect(try await Self.member("status", routes, "bob", "phone-bob") == "active")
            try await bench.postToken("bob", "phone-bob", 13, match: Self.name, instance: 2)
            try await bench.run()
            #expect(try await bench.states("bob", "phone-bob", match: Self.name) == ["ended/rolled_over", "active"])
            #expect(bench.apns.calls("end").map(\.token) == [LiveBench.updateToken(3)])
        }
    }

    @Test("without a new state an activity is rolled over once, and is not started again when the system has ended it; with one it is")
    func unchanged() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await Self.running(routes)
            // Its source sends changes alone.
            try await bench.pool.execute("UPDATE activitySubjects SET freshFor = NULL")
            bench.clock.advance(.seconds(27_000))
            try await bench.run(feedIsSilent: true)
            #expect(bench.apns.calls("start").count == 3)
            for (user, device, number) in [("ann", "phone", 11), ("ann", "tablet", 12), ("bob", "phone-bob", 13)] {
                try await bench.postToken(user, device, number, match: Self.name, instance: 2)
            }
            try await bench.run(feedIsSilent: true)
            // As old as the first ones were when they were rolled over; the system ends them half an hour later.
            bench.clock.advance(.seconds(27_000))
            for _ in 0..<2 { try await bench.run(feedIsSilent: true) }
            #expect(try await bench.states("ann", "phone", match: Self.name) == ["ended/rolled_over", "active"])
            #expect(bench.apns.calls("start").count == 3)
            bench.clock.advance(.seconds(1801))
            bench.apns.answer(LiveBench.updateToken(13), .apns(410, "Unregistered"))
            for _ in 0..<2 { try await bench.run(feedIsSilent: true) }
            #expect(try await bench.states("ann", "phone", match: Self.name) == ["ended/rolled_over", "active"])
            #expect(try await bench.states("bob", "phone-bob", match: Self.name) == ["ended/rolled_over", "ended/token_invalid"])
            #expect(bench.apns.calls("start").count == 3)
            #expect(try await Self.put(routes, Self.state(1)).json["result"] == .string("accepted"))
            try await bench.run()
            #expect(bench.apns.calls("start").count == 6)
        }
    }

    @Test(
        "a final state ends it for all with that state and its dismissal; DELETE ends it with the last one; after that nothing is taken in"
    )
    func ends() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await Self.running(routes)
            let dismissAt = Timestamp(seconds: bench.now.seconds + 3600)
            let last = Self.state(
                2,
                #", "final": true, "dismissAt": "\#(dismissAt.rfc3339)", "alert": {"title": "Full time", "body": "2–0"}"#
            )
            .replacing("firstHalf", with: "fullTime")
            #expect(try await Self.put(routes, last).json["result"] == .string("ended"))
            try await bench.run()
            let ends = bench.apns.calls("end")
            #expect(ends.count == 3 && ends.allSatisfy { $0.contentState.contains("fullTime") })
            #expect(
                ends.allSatisfy {
                    $0.aps.integer("dismissal-date") == dismissAt.seconds && $0.aps["alert"]?["title"]?.string == "Full time"
                }
            )
            #expect(try await Self.put(routes, last).json["result"] == .string("unchanged"))
            #expect(try await Self.put(routes, Self.state(3)).status == .conflict)
            #expect(try await routes.call(Self.path, .delete, as: "service").status == .noContent)
            let status = try await Self.status(routes)
            #expect(status["phase"]?.string == "ended" && Self.device(status, "ann", "tablet")["shows"]?.string == "last")
            bench.apns.forget()
            try await bench.run()
            #expect(bench.apns.calls.isEmpty)
            bench.clock.advance(.seconds(49 * 3600))
            try await bench.run()
            #expect(try await routes.call(Self.path, .get, as: "service").status == .notFound)
            #expect(try await bench.count("SELECT count(*) FROM follows") == 0)
        }
    }

    @Test("DELETE takes the card away with its last state, and is 404 for what never was")
    func delete() async throws {
        try await LiveRoutes.with { routes in
            #expect(try await routes.call(Self.path, .delete, as: "service").status == .notFound)
            try await Self.running(routes)
            #expect(try await routes.call(Self.path, .delete, as: "service").status == .noContent)
            try await routes.bench.run()
            #expect(routes.bench.apns.calls("end").count == 3)
        }
    }

    @Test("another process goes on with a subject: the newest state, nothing started twice, and what went missing meanwhile comes back")
    func restart() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await Self.running(routes)
            await bench.engine.release()
            _ = try await Self.put(routes, Self.state(1))
            try await bench.phone("cid", "phone-cid", 5)
            _ = try await routes.call("\(Self.path)/followers/cid", .put, as: "service")
            let next = bench.another(owner: "next")
            bench.apns.answer(LiveBench.updateToken(2), .apns(410, "Unregistered"))
            try await next.runUntilIdle()
            #expect(Set(bench.apns.calls("update").map(\.token)) == Set((1...3).map { LiveBench.updateToken($0) }))
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(5)])
            try await next.runUntilIdle()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(5), LiveBench.startToken(2)])
            let stamps = bench.apns.calls("update").map(\.timestamp)
            #expect(Set(stamps).count == 1)
        }
    }

    @Test("where the type allows channels one broadcast reaches all with iOS 18; of a type that does not, none is made")
    func channels() async throws {
        try await LiveRoutes.with {
            $0.channels.mode = .own
        } _: { routes in
            let bench = routes.bench
            try await bench.phone("ann", "phone", 1)
            _ = try await routes.call("\(Self.path)/followers/ann", .put, as: "service")
            _ = try await Self.put(routes, Self.state(0))
            try await bench.run()
            #expect(bench.apns.channels.calls("create").count == 1)
            #expect(bench.apns.calls("start").first?.aps.text("input-push-channel") == "channel-1==")
            #expect(try await bench.states("ann", "phone", match: Self.name) == ["active"])
            _ = try await Self.put(routes, Self.state(1))
            try await bench.run()
            #expect(bench.apns.channels.calls("broadcast").count == 1 && bench.apns.calls("update").isEmpty)
            #expect(try await Self.member("shows", routes, "ann", "phone") == "newest")
            let parcel = """
                {"attributes": {"merchant": "Shop", "orderNumber": "1"}, "startAlert": {"title": "Shop", "body": "On its way"},
                 "contentState": {"stage": "pickedUp"}}
                """
            _ = try await routes.call("/live/DeliveryActivityAttributes/o1/followers/ann", .put, as: "service")
            #expect(try await routes.call("/live/DeliveryActivityAttributes/o1", .put, as: "service", parcel).status == .created)
            try await bench.run()
            #expect(bench.apns.channels.calls("create").count == 1)
            #expect(bench.apns.calls("start").last?.aps.integer("input-push-token") == 1)
        }
    }

    @Test("app users follow what the type allows, list it, and unfollow it; a delivery is followed by the service alone")
    func users() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.phone("ann", "phone", 1)
            _ = try await Self.put(routes, Self.state(0))
            let answer = try await routes.call("\(Self.path)/follow", .post, as: "ann", "{}")
            #expect(answer.status == .ok && String(buffer: answer.body).contains(#""homeGoals":0"#))
            try await bench.follow("ann", "m1")
            try await bench.run()
            #expect(bench.apns.calls("start").count == 1)
            let list = try await routes.call("/user/follow", .get, as: "ann")
            #expect(String(buffer: list.body).contains(#"{"id":"ars-che","type":"FootballActivityAttributes"}"#))
            #expect(String(buffer: list.body).contains(#"{"id":"m1","type":"MatchActivityAttributes"}"#))
            let matches = try await routes.call("/user/follow/match", .get, as: "ann")
            #expect(String(buffer: matches.body).hasPrefix(#"{"matches":["m1"],"starts":["#))
            #expect(!String(buffer: matches.body).contains("ars-che"))
            #expect(try await routes.call("\(Self.path)/follow", .delete, as: "ann").status == .noContent)
            #expect(try await bench.states("ann", "phone", match: Self.name) == ["ended/user_unfollow"])
            #expect(try await routes.call("/live/DeliveryActivityAttributes/o1/follow", .post, as: "ann", "{}").status == .forbidden)
            #expect(try await routes.call("/live/Nothing/o1/follow", .post, as: "ann", "{}").status == .notFound)
        }
    }

    @Test("a match is a subject: GET says what its devices show, and a service makes its followers; its state comes by its feed alone")
    func matches() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            let match = "/live/MatchActivityAttributes/m1"
            try await bench.phone("ann", "phone", 1)
            #expect(try await routes.call("\(match)/followers/ann", .put, as: "service").status == .noContent)
            try await bench.score(runs: 1)
            try await bench.run()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(1)])
            let answer = try await routes.call(match, .get, as: "service")
            #expect(answer.status == .ok && String(buffer: answer.body).contains(#""reason":"waitsForToken""#))
            #expect(try await routes.call(match, .put, as: "service", Self.state(0)).status == .conflict)
            #expect(try await routes.call(match, .delete, as: "service").status == .conflict)
        }
    }

    @Test("GET has pages and names every follower, also one without a device and one that no push can start")
    func pages() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("bob", "phone-bob", 2, startToken: false)
            for user in ["ann", "bob", "cid"] { _ = try await routes.call("\(Self.path)/followers/\(user)", .put, as: "service") }
            _ = try await Self.put(routes, Self.state(0))
            var status = try await Self.status(routes, "?limit=2")
            #expect(Self.device(status, "ann", "phone")["reason"]?.string == "startDue")
            #expect(Self.device(status, "bob", "phone-bob")["reason"]?.string == "noStartToken")
            let next = try #require(status["next"]?.string?.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            status = try await Self.status(routes, "?limit=2&after=\(next)")
            #expect(Self.device(status, "cid", nil)["reason"]?.string == "noDevice" && status["next"] == nil)
            status = try await Self.status(routes, "?userId=bob")
            #expect(Self.device(status, "ann", "phone").isEmpty && status["followers"]?.integer == 3)
            for after in ["x", "%5B%22%5Cu0000%22,%22y%22%5D"] {
                #expect(try await routes.call(Self.path + "?after=\(after)", .get, as: "service").status == .badRequest, "\(after)")
            }
        }
    }

    @Test("what a new subject lacks is named, and a state that no provider would take is refused, first and later")
    func refusals() async throws {
        try await LiveRoutes.with { routes in
            try await routes.bench.phone("ann", "phone", 1)
            let bare = #"{"contentState": {"phase": "firstHalf", "minute": 1, "homeGoals": 0, "awayGoals": 0}}"#
            #expect(try await Self.put(routes, bare).json["pointer"]?.string == "/attributes")
            let silent = bare.replacing("{\"contentState\"", with: #"{"attributes": {"home": "A", "away": "B"}, "contentState""#)
            #expect(try await Self.put(routes, silent).json["pointer"]?.string == "/startAlert")
            #expect(try await Self.put(routes, Self.state(0, #", "dismissAt": "2099-01-01T00:00:00Z""#)).status == .unprocessableContent)
            #expect(try await routes.call(Self.path, .put, as: "ann", Self.state(0)).status == .forbidden)
            #expect(try await routes.call("/live/Nothing/x", .put, as: "service", bare).status == .notFound)
        }
    }
}

@Suite("Direct starts after their activity has ended")
struct DirectStartTests {
    private let base = "/live-activities/PagerActivityAttributes"
    private let name = "PagerActivityAttributes/p1"
    private let start = """
        {"activityId": "p1", "uid": "ann", "attributes": {"recipient": "Ann"}, "contentState": {"sender": "Ops", "message": "Disk full",
         "timestamp": 1800000000, "isDemo": false, "messageIndex": 0, "totalMessages": 1}, "alert": {"title": "Pager", "body": "Disk full"}}
        """
    private let update = """
        {"activityId": "p1", "contentState": {"sender": "Ops", "message": "Disk fine", "timestamp": 1800000000, "isDemo": false,
         "messageIndex": 0, "totalMessages": 1}}
        """

    private func running(_ routes: LiveRoutes) async throws {
        try await routes.bench.phone("ann", "phone", 1)
        #expect(try await state(routes, "start", start) == (.accepted, "starting"))
        try await routes.bench.run()
        try await routes.bench.postToken("ann", "phone", 1, match: name)
        try await routes.bench.run()
    }

    private func state(_ routes: LiveRoutes, _ verb: String, _ body: String) async throws -> (HTTPResponse.Status, String?) {
        let answer = try await routes.call("\(base)/\(verb)", .post, as: "service", body)
        let json = try JSONParser.parse(Array(String(buffer: answer.body).utf8))
        return (answer.status, json["state"]?.string ?? json["code"]?.string)
    }

    @Test("after a 410 update and start say that it is being started again, and it is")
    func gone() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await running(routes)
            #expect(try await state(routes, "start", start) == (.ok, "active"))
            bench.apns.answer(LiveBench.updateToken(1), .apns(410, "Unregistered"))
            #expect(try await state(routes, "update", update) == (.accepted, "updating"))
            try await bench.run(all: false)
            #expect(try await bench.states("ann", "phone", match: name) == ["ended/token_invalid"])
            bench.apns.forget()
            #expect(try await state(routes, "update", update) == (.accepted, "starting"))
            #expect(try await state(routes, "start", start) == (.ok, "starting"))
            try await bench.run(all: false)
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(1)])
            #expect(bench.apns.calls("start").first?.contentState.contains("Disk fine") == true)
        }
    }

    @Test("after a swipe update is a conflict that changes nothing, and start says that it ended")
    func swiped() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await running(routes)
            try await bench.dismiss("ann", "phone", match: name)
            bench.apns.forget()
            #expect(try await state(routes, "update", update) == (.conflict, "activity_ended"))
            #expect(try await state(routes, "start", start) == (.ok, "ended"))
            #expect(try await bench.count("SELECT count(*) FROM activitySubjects WHERE contentState LIKE '%fine%'") == 0)
            try await bench.run()
            #expect(bench.apns.calls.isEmpty)
        }
    }

    @Test("while the device cannot be started, update says that it waits; a new start token starts it")
    func waiting() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await running(routes)
            bench.apns.answer(LiveBench.updateToken(1), .apns(410, "Unregistered"))
            _ = try await state(routes, "update", update)
            try await bench.run(all: false)
            try await bench.pool.execute("UPDATE devices SET osVersion = '17.1'")
            #expect(try await state(routes, "update", update) == (.accepted, "waiting"))
            #expect(try await state(routes, "start", start) == (.ok, "waiting"))
        }
    }

    @Test("a start for one device stays on that device, also when it is started again")
    func oneDevice() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.phone("ann", "tablet", 2)
            try await bench.phone("ann", "phone", 1)
            let one = start.replacing("\"uid\": \"ann\"", with: "\"deviceId\": \"phone\"")
            #expect(try await state(routes, "start", one) == (.accepted, "starting"))
            try await bench.run()
            try await bench.postToken("ann", "phone", 1, match: name)
            bench.apns.answer(LiveBench.updateToken(1), .apns(410, "Unregistered"))
            _ = try await state(routes, "update", update)
            try await bench.run()
            try await bench.run()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(1), LiveBench.startToken(1)])
            #expect(try await bench.states("ann", "tablet", match: name).isEmpty)
        }
    }

    @Test("an update that no provider would take is refused, and the state stays as it was")
    func tooLarge() async throws {
        try await LiveRoutes.with { routes in
            try await running(routes)
            let alert =
                #", "alert": {"title": "\#(String(repeating: "😀", count: 200))", "body": "\#(String(repeating: "😀", count: 500))"}}"#
            let body =
                update.replacing("Disk fine", with: String(repeating: "😀", count: 500))
                .replacing("Ops", with: String(repeating: "😀", count: 100)).dropLast() + alert
            #expect(try await state(routes, "update", String(body)) == (.unprocessableContent, "payload_too_large"))
            #expect(try await routes.bench.count("SELECT count(*) FROM activitySubjects WHERE contentState LIKE '%full%'") == 1)
        }
    }
}
