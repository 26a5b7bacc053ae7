import HTTPServer
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Postgres
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("Routes of follows and activities")
struct RouteTests {
    @Test("the answer to a follow, the list and the device give the state of each match on each device: what waits, why, and until when")
    func starts() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.phone("ann", "phone", 1)
            func starts(_ answer: String) throws -> [JSONValue] { try JSONParser.parse(Array(answer.utf8))["starts"]?.elements ?? [] }
            for match in ["m1", "m2", "m3", "m4"] { try await bench.score(match, runs: 1) }
            for match in ["m1", "m2", "m3"] {
                let answer = try await routes.call("/user/follow/match", .post, as: "ann", #"{"matchId": "\#(match)"}"#)
                #expect(try starts(String(buffer: answer.body)).map { $0["state"] } == [.string("starting")])
                try await bench.run()
            }
            let answer = try await routes.call("/user/follow/match", .post, as: "ann", #"{"matchId": "m4", "position": 3}"#)
            let fourth = try #require(try starts(String(buffer: answer.body)).first)
            #expect(
                fourth["reason"] == .string("startBudget") && fourth["state"] == .string("waiting")
                    && fourth["deviceId"] == .string("phone")
            )
            #expect(fourth["startsAt"]?.string.flatMap { Timestamp(rfc3339: $0) } ?? bench.now > bench.now + .seconds(3000))
            let nowhere = try await routes.call("/user/follow/match", .post, as: "ann", #"{"matchId": "m4", "startsHere": true}"#)
            #expect(nowhere.status == .unprocessableContent && String(buffer: nowhere.body).contains("/deviceId"))
            for path in ["/user/follow/match", "/devices/phone/live-activities"] {
                let text = String(buffer: try await routes.call(path, .get, as: "ann").body)
                #expect(try starts(text).map { $0["matchId"] } == ["m1", "m2", "m3", "m4"].map { .string($0) }, "\(text)")
                #expect(try starts(text).last == fourth)
            }
            #expect(try starts(String(buffer: try await routes.call("/devices/other/live-activities", .get, as: "ann").body)).isEmpty)
            let refused = try await routes.call("/user/follow/match", .post, as: "ann", #"{"matchId": "m4", "position": 0}"#)
            #expect(refused.status == .unprocessableContent)
        }
    }

    @Test("a start for one device is listed on that device alone, and a device that was not seen for 90 days is on no list")
    func addressed() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            for (deviceId, number) in [("phone", 1), ("tablet", 2)] { try await bench.phone("ann", deviceId, number) }
            try await bench.fcmDevice("ann", "browser", 3, platform: .web)
            let start = """
                {"activityId": "p1", "uid": "ann", "deviceId": "phone", "attributes": {"recipient": "Ann"},
                 "contentState": {"sender": "Ops", "message": "Disk full", "timestamp": 1800000000, "isDemo": false, "messageIndex": 0,
                 "totalMessages": 2}, "alert": {"title": "Pager", "body": "Disk full"}}
                """
            let started = try await routes.call("/live-activities/PagerActivityAttributes/start", .post, as: "service", start)
            #expect(started.status == .accepted)
            func devices(_ path: String) async throws -> [String?] {
                let answer = try await routes.call(path, .get, as: "ann")
                let starts = try JSONParser.parse(Array(String(buffer: answer.body).utf8))["starts"]?.elements ?? []
                return starts.map { $0["deviceId"]?.string }
            }
            #expect(try await devices("/user/follow") == ["phone"])
            #expect(try await devices("/devices/tablet/live-activities").isEmpty)
            try await bench.follow("ann")
            #expect(try await devices("/user/follow/match") == ["browser", "phone", "tablet"])
            try await bench.pool.execute("UPDATE devices SET expiresAt = \(bench.now) WHERE deviceId = 'tablet'")
            #expect(try await devices("/user/follow/match") == ["browser", "phone"])
        }
    }

    @Test("L-19: follow answers with the state of a live match; unfollow by path, by body, and twice; the list of follows")
    func follow() async throws {
        try await LiveRoutes.with { routes in
            try await routes.bench.score(runs: 7)
            let body = #"{"matchId": "m1", "deviceId": "phone"}"#
            func followed() async throws -> String {
                String(buffer: try await routes.call("/user/follow/match", .get, as: "ann").body)
            }
            let answer = try await routes.call("/user/follow/match", .post, as: "ann", body)
            #expect(answer.status == .ok)
            let text = String(buffer: answer.body)
            guard case .object(let members) = try JSONParser.parse(Array(text.utf8)) else { throw CancellationError() }
            #expect(members["following"] == .bool(true) && members["phase"] == .string("live") && text.contains(#""runs":7"#))
            #expect(try await followed() == #"{"matches":["m1"],"starts":[]}"#)
            #expect(try await routes.call("/user/follow/match/m1", .delete, as: "ann").status == .noContent)
            #expect(try await followed() == #"{"matches":[],"starts":[]}"#)
            #expect(try await routes.call("/user/follow/match/m1", .delete, as: "ann").status == .noContent)
            #expect(try await routes.call("/user/follow/match", .post, as: "ann", body).status == .ok)
            #expect(try await followed() == #"{"matches":["m1"],"starts":[]}"#)
            #expect(try await routes.call("/user/follow/match", .delete, as: "ann", #"{"matchId": "m1"}"#).status == .noContent)
            #expect(try await followed() == #"{"matches":[],"starts":[]}"#)
            #expect(try await routes.call("/user/follow/match", .post, as: "service", body).status == .forbidden)
            #expect(try await routes.call("/user/follow/match", .post, as: nil, body).status == .unauthorized)
            #expect(try await routes.call("/user/follow/match", .post, as: "ann", #"{"matchId": "a b"}"#).status == .unprocessableContent)
        }
    }

    @Test("D-04, C-05, F-05: the token call: 200, 404 device_not_registered, 409 not_following and activity_ended, 422")
    func token() async throws {
        try await LiveRoutes.with { routes in
            func post(_ deviceId: String, _ token: String, instance: Int? = nil) async throws -> TestResponse {
                let number = instance.map { #", "instance": \#($0)"# } ?? ""
                let body = #"{"deviceId": "\#(deviceId)", "updateToken": "\#(token)"\#(number)}"#
                return try await routes.call("/matches/m1/activity-token", .post, as: "ann", body)
            }
            try await routes.bench.score(runs: 1)
            let unknown = try await post("phone", LiveBench.updateToken(1))
            #expect(unknown.status == .notFound && String(buffer: unknown.body).contains("device_not_registered"))
            try await routes.bench.phone("ann", "phone", 1)
            let stranger = try await post("phone", LiveBench.updateToken(1))
            #expect(stranger.status == .conflict && String(buffer: stranger.body).contains("not_following"))
            try await routes.bench.follow("ann")
            let adopted = try await post("phone", LiveBench.updateToken(1), instance: 1)
            #expect(adopted.status == .ok && String(buffer: adopted.body).contains(#""instance":1"#))
            #expect(!String(buffer: adopted.body).contains(LiveBench.updateToken(1)))
            let stored = try await routes.bench.history().active?.tokenHash
            let hash = try TokenHash.apns(LiveBench.updateToken(1))
            #expect(stored == hash)
            #expect(try await post("phone", LiveBench.updateToken(1), instance: 1).status == .ok)
            #expect(try await post("phone", "not a token").status == .unprocessableContent)
            let dismissed = try await routes.call(
                "/matches/m1/activity-dismissed",
                .post,
                as: "ann",
                #"{"deviceId": "phone", "cause": "user", "instance": 1}"#
            )
            #expect(dismissed.status == .ok && String(buffer: dismissed.body).contains("unfollowed"))
            let late = try await post("phone", LiveBench.updateToken(1), instance: 1)
            #expect(late.status == .conflict && String(buffer: late.body).contains("activity_ended"))
        }
    }

    @Test("D-01, D-05: an update token is in no other table, and posting it changes no other token")
    func separateTokens() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.score(runs: 1)
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            func device() async throws -> String {
                try await bench.pool.query("SELECT to_jsonb(d)::text FROM devices d")[0].decode(String.self)
            }
            let before = try await device()
            try await bench.postToken("ann", "phone", 1)
            #expect(try await device() == before)
            let columns = try await bench.pool.query(
                "SELECT table_name::text FROM information_schema.columns WHERE column_name = 'updatetoken'"
            ).map { try $0.decode(String.self) }
            #expect(columns == ["liveactivities"])
        }
    }
}
