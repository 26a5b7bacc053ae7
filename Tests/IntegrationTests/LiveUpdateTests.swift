import Foundation
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

@testable import ProviderSimulator

extension WholeService {
    /// A match in a server of its own process, FCM and APNs over TLS.
    @Suite("Live Updates on Android, and key events for devices without Live Activities")
    struct LiveUpdateTests {
        private static let android = "dQw4w9WgXcQ:APA91bAndroidOfAnn000000001"
        private static let dead = "dQw4w9WgXcQ:APA91bAndroidOfBob000000002"
        private static let iPhone = String(repeating: "d4", count: 32)

        private struct Day: Sendable {
            var server: ServerProcess
            let simulator: ProviderSimulator
            let pool: PostgresPool

            func score(_ sequence: Int, wickets: Int, phase: String = "live") async throws {
                let result = phase == "ended" ? #", "result": {"outcome": "noResult"}"# : ""
                let score = """
                    {"matchId": "m1", "sequence": \(sequence), "updatedAt": "\(Timestamp.now().rfc3339)", "phase": "\(phase)",
                     "teams": [{"name": "One", "short": "ONE"}, {"name": "Two", "short": "TWO"}],
                     "innings": [{"number": 1, "team": "ONE", "runs": \(40 + sequence),
                                  "wickets": \(wickets), "overs": "6.\(wickets)"}]\(result)}
                    """
                let answer = try await server.api.call("PUT", "/matches/m1", type: "application/json", body: Array(score.utf8))
                #expect(answer.status == 200, "\(answer.text)")
            }

            /// `data` of the messages that FCM took for a token.
            func messages(_ token: String) -> [[String: Any]] {
                simulator.requests(token: token).filter { $0.status == 200 }.compactMap { request in
                    let body = try? JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? [String: Any]
                    return body?["message"] as? [String: Any]
                }
            }

            func data(_ token: String) -> [[String: String]] { messages(token).compactMap { $0["data"] as? [String: String] } }

            /// Everything in the queue has come to its outcome.
            func isSettled() async throws -> Bool {
                let open =
                    "SELECT (SELECT count(*) FROM pushReady) + (SELECT count(*) FROM pushLeases) + (SELECT count(*) FROM pushScheduled)"
                return try await pool.query("\(raw: open)")[0].decode(Int.self) == 0
            }
        }

        @Test(
            "a wicket over FCM: the state with its alert for Android, an ordinary push for an iPhone without start token, a dead token deactivated; a kill -9 repeats nothing, and the end leaves the screen"
        )
        func wicket() async throws {
            try await withDay { start, simulator, issuer, pool in
                var day = Day(server: try await start(), simulator: simulator, pool: pool)
                simulator.setToken(Self.dead, ScriptedToken(dead: true))
                let devices = [
                    ("ann", "pixel", Self.android, "android"), ("bob", "old", Self.dead, "android"), ("cid", "phone", Self.iPhone, "ios"),
                ]
                for (user, device, token, platform) in devices {
                    let api = day.server.api.with(bearer: try issuer.token(userId: user))
                    let registered = try await api.post(
                        "/devices",
                        ["deviceId": device, "pushToken": token, "platform": platform, "app": "com.example.scores"]
                    )
                    #expect(registered.status == 200, "\(registered.text)")
                    let followed = try await api.post("/user/follow/match", ["matchId": "m1", "deviceId": device])
                    #expect(followed.status == 200)
                    let receives = followed.array("starts").first?["receives"] as? String
                    #expect(receives == (platform == "android" ? "liveUpdate" : "keyEvents"))
                }
                try await day.score(1, wickets: 0)
                try await eventually("Android has the first state") { !day.data(Self.android).isEmpty }
                try await eventually("the iPhone was alerted of the start") { day.simulator.requests(token: Self.iPhone).count == 1 }
                try await eventually("the outcomes are stored") { try await day.isSettled() }
                try await day.score(2, wickets: 1)
                try await eventually("Android was sent the wicket") { day.data(Self.android).count == 2 }
                try await eventually("and so was the iPhone") { day.simulator.requests(token: Self.iPhone).count == 2 }
                try await eventually("all outcomes are stored") { try await day.isSettled() }

                let message = try #require(day.messages(Self.android).last)
                let data = try #require(message["data"] as? [String: String])
                let settings = try #require(message["android"] as? [String: Any])
                #expect(message["notification"] == nil && settings["priority"] as? String == "high" && settings["collapse_key"] == nil)
                #expect((settings["ttl"] as? String)?.hasSuffix("s") == true)
                let state = try #require(data["contentState"])
                let served = try await day.server.api.get("/matches/m1")
                #expect(state == served.text, "the state as it is stored, byte for byte")
                #expect(data["alertTitle"]?.isEmpty == false && data["text"]?.contains("42/1") == true, "\(data)")
                let iPhone = try #require(day.simulator.requests(token: Self.iPhone).last)
                #expect(iPhone.header("apns-push-type") == "alert" && iPhone.body.contains(data["alertTitle"] ?? "?"))
                #expect(iPhone.header("apns-collapse-id")?.count == 32)

                let devicesOfBob = try await pool.query("SELECT tokenState::text FROM devices WHERE userId = 'bob'")
                #expect(try devicesOfBob.map { try $0.decode(String.self) } == ["inactive"])
                #expect(day.simulator.requests(token: Self.dead).count == 1, "nothing further is sent to it")

                try await day.server.killNow()
                day.server = try await start()
                try await day.score(3, wickets: 2)
                try await eventually("the next wicket arrives") { day.data(Self.android).last?["text"]?.contains("43/2") == true }
                try await day.score(4, wickets: 2, phase: "ended")
                try await eventually("the end arrives") { day.data(Self.android).last?["event"] == "end" }
                try await eventually("all outcomes are stored") { try await day.isSettled() }
                let all = day.data(Self.android)
                #expect(Set(all.compactMap { $0["order"] }).count == all.count, "none was sent twice")
                let orders = all.compactMap { $0["order"].flatMap(Int64.init) }
                #expect(orders == orders.sorted())
                #expect(all.last?["endReason"] == "match_end" && all.last?["dismissAt"] != nil)
                let status = try await day.server.api.get("/live/MatchActivityAttributes/m1")
                let ann = try #require(status.array("devices").first { $0["userId"] as? String == "ann" })
                #expect(ann["receives"] as? String == "liveUpdate" && ann["shows"] as? String == "last", "\(ann)")
                try await Ledger(session: pool).expectConsistent()
            }
        }

        private func withDay(
            _ body: (_ start: () async throws -> ServerProcess, ProviderSimulator, UserIssuer, PostgresPool) async throws -> Void
        ) async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { simulator, endpoints in
                        let issuer = try UserIssuer(directory: directory)
                        let files = try ProviderFiles(simulator, endpoints, directory: directory)
                        let users = ["USERS_ISSUER": UserIssuer.issuer, "USERS_JWKS": issuer.jwksPath]
                        let settings = files.apns.merging(files.fcm) { $1 }.merging(users) { $1 }
                        try await withPool(database) { pool in
                            let start = {
                                let server = try await ServerProcess.start(database: database, settings: settings)
                                try await server.waitUntilReady()
                                return server
                            }
                            try await body(start, simulator, issuer, pool)
                        }
                    }
                }
            }
        }
    }
}
