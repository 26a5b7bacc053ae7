import Foundation
import Postgres
import ProviderSimulator
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Sends through the provider simulator")
    struct SendTests {
        static let app = "com.example.scores"

        /// A device registered by its user; its token.
        private func register(_ server: RunningServer, _ deviceId: String, user: String) async throws -> String {
            let token = (0..<32).map { _ in String(UInt8.random(in: 16...255), radix: 16) }.joined()
            let answer = try await server.asUser(user).post(
                "/devices",
                ["deviceId": deviceId, "pushToken": token, "platform": "ios", "environment": "sandbox", "app": Self.app]
            )
            #expect(answer.status == 200, "\(answer.text)")
            return token
        }

        /// Sends to a device and waits until the send's state is one of `states`.
        private func send(
            _ server: RunningServer,
            to deviceId: String,
            until states: Set<String>
        ) async throws -> API.Answer {
            let answer = try await server.api.post("/sends", ["deviceId": deviceId, "title": "Kick-off", "body": "Now"])
            #expect(answer.status == 202, "\(answer.text)")
            let sendId = try #require(answer.json["sendId"] as? String)
            return try await eventually("send \(sendId) is one of \(states)") {
                let answer = try await server.api.get("/sends/\(sendId)")
                return states.contains(answer.json["state"] as? String ?? "") ? answer : nil
            }
        }

        private func outcomes(_ send: API.Answer) -> [String] {
            send.array("attempts").map { "\($0["status"] ?? "?")/\($0["reasonCode"] ?? "-")/\($0["providerErrorCode"] ?? "-")" }
        }

        @Test("a push that is taken leaves one row `sent` with the provider's message id")
        func sent() async throws {
            try await withServer { server in
                let token = try await register(server, "phone", user: "ada")
                let send = try await send(server, to: "phone", until: ["sent"])
                let attempts = send.array("attempts")
                try #require(attempts.count == 1)
                #expect(attempts[0]["status"] as? String == "sent")
                #expect(attempts[0]["eventType"] as? String == "send")
                #expect(attempts[0]["tokenHash"] as? String == (try TokenHash.apns(token).rawValue))
                let request = try #require(server.simulator.requests(token: token).last)
                #expect(server.simulator.requests(token: token).count == 1)
                #expect((attempts[0]["providerMessageId"] as? String)?.isEmpty == false)
                #expect(request.status == 200)
                let id = try #require(attempts[0]["attemptId"] as? String)
                let stored = try await server.api.get("/attempts/\(id)")
                #expect(stored.status == 200)
                #expect(stored.json["uid"] as? String == "ada")
                #expect(!send.text.contains(token) && !stored.text.contains(token))
                try await Ledger(session: server.pool).expectConsistent()
            }
        }

        @Test("validateOnly: the requests as they would leave, FCM asked, and nothing stored, queued or delivered")
        func dryRun() async throws {
            try await withServer { server in
                let token = try await register(server, "phone", user: "ada")
                let shown = try await server.api.post(
                    "/sends",
                    ["uid": "ada", "title": "Kick-off", "collapseId": "match", "validateOnly": true, "sendId": "dry"] as [String: Any]
                )
                #expect(shown.status == 200 && shown.json["result"] as? String == "valid", "\(shown.text)")
                let check = try #require(shown.array("checks").first)
                #expect(check["valid"] as? Bool == true && check["checkedByProvider"] as? Bool == false)
                let request = try #require(check["request"] as? [String: Any])
                let headers = try #require(request["headers"] as? [String: String])
                #expect(headers["apns-topic"] == Self.app && headers["apns-collapse-id"] == "match" && headers["authorization"] == nil)
                #expect(
                    ((request["body"] as? [String: Any])?["aps"] as? [String: Any])?["alert"] as? [String: String] == ["title": "Kick-off"]
                )
                #expect(!shown.text.contains(token))

                let fcm = "dQw4w9WgXcQ:APA91bExampleExampleExample"
                let target: [String: Any] = ["token": fcm, "provider": "fcm", "app": "com.example.scores", "title": "T"]
                let checked = try await server.api.post("/sends", target.merging(["validateOnly": true]) { $1 })
                #expect(checked.status == 200 && checked.array("checks").first?["checkedByProvider"] as? Bool == true, "\(checked.text)")
                #expect(checked.json["result"] as? String == "valid" && !checked.text.contains(fcm))
                server.simulator.setFaults([FaultRule(.fcm, status: 404, reason: "UNREGISTERED")])
                let dead = try await server.api.post("/sends", target.merging(["validateOnly": true]) { $1 })
                #expect(dead.status == 200 && dead.json["result"] as? String == "invalid", "\(dead.text)")
                #expect(dead.array("checks").first?["reasonCode"] as? String == "token_not_registered")

                let refused = try await server.api.post(
                    "/sends",
                    ["uid": "ada", "data": ["aps": "x"], "validateOnly": true] as [String: Any]
                )
                #expect(refused.status == 422 && refused.code == "payload_refused", "\(refused.text)")
                let many = try await server.api.post("/sends", ["uids": ["ada"], "validateOnly": true] as [String: Any])
                #expect(many.status == 422 && many.json["pointer"] as? String == "/validateOnly", "\(many.text)")

                #expect(server.simulator.requests(token: token).isEmpty)
                let asked = server.simulator.requests(token: fcm)
                #expect(!asked.isEmpty && asked.allSatisfy { $0.body.contains(#""validate_only":true"#) })
                for table in ["pushSends", "pushDeliveries", "pushIntents", "notificationDeliveryAttempts WHERE eventType = 'send'"] {
                    #expect(try await server.pool.query("SELECT count(*) FROM \(raw: table)")[0].decode(Int.self) == 0, "\(table)")
                }
                #expect(try await server.api.get("/sends/dry").status == 404)
            }
        }

        @Test("410 deactivates the token: one row deactivated, the app sees it, nothing more is sent")
        func unregistered() async throws {
            try await withServer { server in
                let token = try await register(server, "phone", user: "ada")
                server.simulator.setFaults([
                    FaultRule(.apns, status: 410, reason: "Unregistered", timestamp: Timestamp.now().microseconds / 1000 + 1000)
                ])
                let send = try await send(server, to: "phone", until: ["failed", "sent", "unreachable"])
                #expect(send.json["state"] as? String == "failed")
                #expect(outcomes(send) == ["deactivated/token_not_registered/Unregistered"])
                let device = try await server.asUser("ada").get("/devices/phone")
                let state = device.json["pushToken"] as? [String: Any]
                #expect(state?["state"] as? String == "inactive")
                #expect(state?["cause"] as? String == "Unregistered")
                server.simulator.setFaults([])
                let refused = try await server.api.post("/sends", ["deviceId": "phone", "title": "Again"])
                #expect(refused.status == 422 && refused.code == "no_active_device")
                #expect(server.simulator.requests(token: token).count == 1)
                // Registered anew it is reached again.
                _ = try await register(server, "phone", user: "ada")
                _ = try await self.send(server, to: "phone", until: ["sent"])
            }
        }

        @Test("a 410 that is older than the registration does not deactivate the token")
        func staleUnregistered() async throws {
            try await withServer { server in
                _ = try await register(server, "phone", user: "ada")
                server.simulator.setFaults([
                    FaultRule(
                        .apns,
                        status: 410,
                        reason: "Unregistered",
                        times: 1,
                        timestamp: Timestamp.now().microseconds / 1000 - 86_400_000
                    )
                ])
                _ = try await send(server, to: "phone", until: ["failed", "sent", "unreachable"])
                let device = try await server.asUser("ada").get("/devices/phone")
                #expect((device.json["pushToken"] as? [String: Any])?["state"] as? String == "active")
            }
        }

        @Test("503 twice and then 200: three rows, the last `sent`")
        func retried() async throws {
            try await withServer { server in
                let token = try await register(server, "phone", user: "ada")
                server.simulator.setFaults([FaultRule(.apns, status: 503, reason: "ServiceUnavailable", times: 2)])
                let send = try await send(server, to: "phone", until: ["sent", "failed"])
                #expect(
                    outcomes(send) == [
                        "failed/provider_5xx/ServiceUnavailable", "failed/provider_5xx/ServiceUnavailable", "sent/-/-",
                    ]
                )
                #expect(server.simulator.requests(token: token).count == 3)
                try await Ledger(session: server.pool).expectConsistent()
            }
        }

        @Test("a push without an answer has an unknown outcome, and a metric counts it by what ended the wait")
        func unanswered() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { simulator, endpoints in
                        let files = try ProviderFiles(simulator, endpoints, directory: directory)
                        simulator.setFaults([FaultRule(provider: .apns, times: 1, effect: .resetStream)])
                        let server = try await ServerProcess.start(database: database, settings: files.apns, arguments: ["--migrate"])
                        try await server.waitUntilReady()
                        let token = String(repeating: "5a", count: 32)
                        let push = ["sendId": "s1", "token": token, "provider": "apns", "app": Self.app, "title": "Goal"]
                        #expect(try await server.api.post("/sends", push).status == 202)
                        let send = try await eventually("it is sent by another attempt") {
                            let answer = try await server.api.get("/sends/s1")
                            return answer.json["state"] as? String == "sent" ? answer : nil
                        }
                        #expect(outcomes(send) == ["failed/network/OutcomeUnknown", "sent/-/-"])
                        let metrics = try await server.api.get("/metrics").text
                        let counted = #"pushwatch_provider_unanswered_total{code="ConnectionReset",provider="apns"} 1"#
                        #expect(metrics.split(separator: "\n").contains { $0 == counted }, "\(metrics)")
                        #expect(try await server.terminate().code == 0)
                    }
                }
            }
        }

        @Test("403 is `auth`, and says nothing about the token")
        func refusedCredentials() async throws {
            try await withServer { server in
                _ = try await register(server, "phone", user: "ada")
                server.simulator.setFaults([FaultRule(.apns, status: 403, reason: "InvalidProviderToken", times: 1)])
                let send = try await send(server, to: "phone", until: ["sent", "failed"])
                #expect(outcomes(send).first == "failed/auth/InvalidProviderToken")
                let device = try await server.asUser("ada").get("/devices/phone")
                #expect((device.json["pushToken"] as? [String: Any])?["state"] as? String == "active")
            }
        }

        @Test("FCM says UNREGISTERED: the row and the device say it too")
        func fcmUnregistered() async throws {
            try await withServer { server in
                let user = try server.asUser("grace")
                let registered = try await user.post(
                    "/devices",
                    ["deviceId": "pixel", "pushToken": "fcm-token-of-grace", "platform": "android", "app": Self.app]
                )
                #expect(registered.status == 200, "\(registered.text)")
                server.simulator.setToken("fcm-token-of-grace", ScriptedToken(dead: true))
                let send = try await send(server, to: "pixel", until: ["failed", "sent"])
                #expect(outcomes(send) == ["deactivated/token_not_registered/UNREGISTERED"])
                #expect((try await user.get("/devices/pixel").json["pushToken"] as? [String: Any])?["state"] as? String == "inactive")
            }
        }
    }
}
