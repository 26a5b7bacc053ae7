import Foundation
import ProviderSimulator
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("Everything the service calls is stopped but one provider")
    struct SilentPeerTests {
        @Test(
            "FCM, Google's token endpoint, the key set, a feed, a receiver and the heartbeat: attempts and APNs pages go on, and it stops in time"
        )
        func silent() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { simulator, endpoints in
                        let peer = SilentPeer()
                        let silent = "127.0.0.1:\(peer.port)"
                        let files = try ProviderFiles(simulator, endpoints, directory: directory)
                        try simulator.credentials.google.keyFile(tokenURL: "https://\(silent)/token")
                            .write(toFile: files.serviceAccount, atomically: true, encoding: .utf8)
                        let issuer = try UserIssuer(directory: directory)
                        let server = try await ServerProcess.start(
                            database: database,
                            settings: files.apns.merging([
                                "FCM_URL": "https://\(silent)", "FCM_SERVICE_ACCOUNT_FILE": files.serviceAccount,
                                "USERS_ISSUER": UserIssuer.issuer, "USERS_JWKS": "https://\(silent)/jwks",
                                "MATCHES_FEED_URLS": "https://\(silent)/feed", "ALERTS_WEBHOOK_URL": "http://\(silent)/hook",
                                "ALERTS_HEARTBEAT_URL": "http://\(silent)/heartbeat",
                            ]) { $1 },
                            arguments: ["--migrate"]
                        )
                        try await server.waitUntilReady()
                        let user = server.api.with(bearer: try issuer.token(userId: "ada"))
                        async let registration = user.post(
                            "/devices",
                            ["deviceId": "phone", "pushToken": String(repeating: "ab", count: 32), "platform": "ios", "app": "a"]
                        )
                        let fcm = (0..<300).map { ["sendId": "fcm\($0)", "token": "t\($0)", "provider": "fcm", "app": "a", "title": "t"] }
                        #expect(try await server.api.post("/sends", fcm).status == 202)
                        let start = ContinuousClock.now
                        let pages = (0..<40).map { number -> [String: Any] in
                            [
                                "sendId": "page\(number)", "token": String(format: "%064x", number + 1), "provider": "apns", "app": "a",
                                "title": "t", "critical": number < 20,
                            ]
                        }
                        #expect(try await server.api.post("/sends", pages).status == 202)
                        let posted = try await server.api.post("/attempts", text: SampleAttempt(id: "one", at: .now()).text)
                        #expect(posted.status == 201)
                        try await eventually("all pages are accepted") { simulator.requests(provider: .apns).count >= 40 }
                        #expect(ContinuousClock.now - start < .seconds(10), "\(ContinuousClock.now - start)")
                        #expect(try await server.api.get("/health/ready").status == 200)
                        let answer = try await registration
                        #expect(answer.status == 503 && answer[header: "retry-after"] != nil, "\(answer.status) \(answer.text)")
                        let end = try await server.terminate()
                        #expect(end.code == 0 && end.took < .seconds(30), "\(end)")
                        withExtendedLifetime(peer) {}
                    }
                }
            }
        }
    }
}
