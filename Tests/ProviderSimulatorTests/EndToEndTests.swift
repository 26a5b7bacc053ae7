import Foundation
import JWTKit
import PushContract
import ServiceKit
import TestSupport
import Testing

@testable import ProviderSimulator

/// Over real sockets, TLS and HTTP/2, with curl as the client and JWTKit as the signer.
@Suite("The simulator, end to end")
struct EndToEndTests {
    @Test("an APNs push is accepted over HTTP/2, its id echoed, the request recorded")
    func push() async throws {
        try await simulated { simulator, endpoints, curl in
            let id = "3e1a6f5e-5c62-4b9a-8f5d-0c2f4a3b1d00"
            let answer = try await push(curl, simulator, endpoints, headers: ["apns-id": id])
            #expect(answer.status == 200)
            #expect(answer.version == "2")
            #expect(answer.headers["apns-id"] == id)
            #expect(answer.headers["apns-unique-id"] != nil)
            #expect(answer.body.isEmpty)
            let recorded = try #require(simulator.requests(token: deviceToken.uppercased()).first)
            #expect(recorded.status == 200)
            #expect(recorded.header("apns-topic") == "com.example.app")
            #expect(recorded.body == Self.alert)
            let listed = try await curl("GET", "\(endpoints.controlURL)/requests?token=\(deviceToken)&limit=5")
            #expect((listed.json["requests"] as? [Any])?.count == 1)
        }
    }

    @Test("a broken rule is answered in Apple's shape")
    func refusal() async throws {
        try await simulated { simulator, endpoints, curl in
            let answer = try await push(curl, simulator, endpoints, headers: ["apns-priority": "7"])
            #expect(answer.status == 400)
            #expect(answer.body == #"{"reason":"BadPriority"}"#)
            #expect(answer.headers["apns-id"] != nil)
        }
    }

    @Test("APNs does not speak HTTP/1.1")
    func http1() async throws {
        try await simulated { simulator, endpoints, curl in
            let answer = try await push(curl, simulator, endpoints, extra: ["--http1.1"])
            #expect(answer.status == 505)
            #expect(answer.version == "1.1")
        }
    }

    @Test("a client that does not trust the authority gets no connection")
    func trust() async throws {
        try await simulated { simulator, endpoints, _ in
            let answer = try await push(Curl(), simulator, endpoints)
            #expect(answer.exit == 60)
        }
    }

    @Test("a dead token is a 410 with its time, set and unset at the control port")
    func deadToken() async throws {
        try await simulated { simulator, endpoints, curl in
            let url = "\(endpoints.controlURL)/tokens/\(deviceToken)"
            let set = try await curl("PUT", url, body: #"{"dead":true,"since":1700000000123}"#)
            #expect(set.status == 200)
            let dead = try await push(curl, simulator, endpoints)
            #expect(dead.status == 410)
            #expect(dead.body == #"{"reason":"Unregistered","timestamp":1700000000123}"#)
            let unset = try await curl("DELETE", url)
            #expect(unset.status == 204)
            let alive = try await push(curl, simulator, endpoints)
            #expect(alive.status == 200)
        }
    }

    @Test("an FCM send: OAuth first, then the message; without a bearer 401")
    func send() async throws {
        try await simulated { simulator, endpoints, curl in
            let unknown = try await send(curl, simulator, endpoints, bearer: "nobody")
            #expect(unknown.status == 401)
            #expect(unknown.headers["www-authenticate"] != nil)
            let bearer = try await accessToken(curl, simulator, endpoints)
            let answer = try await send(curl, simulator, endpoints, bearer: bearer)
            #expect(answer.status == 200)
            #expect(answer.version == "2")
            let name = try #require(answer.json["name"] as? String)
            #expect(name.hasPrefix("projects/\(simulator.credentials.google.projectId)/messages/0:"))
            #expect(simulator.requests(provider: .fcm, token: fcmToken).last?.status == 200)

            simulator.setToken(fcmToken, ScriptedToken(dead: true))
            let dead = try await send(curl, simulator, endpoints, bearer: bearer)
            #expect(dead.status == 404)
            #expect(dead.body.contains(#""errorCode":"UNREGISTERED""#))

            simulator.revokeAccessTokens()
            let revoked = try await send(curl, simulator, endpoints, bearer: bearer)
            #expect(revoked.status == 401)
        }
    }

    @Test("a share of the answers are faults; a rule with times is used up")
    func faults() async throws {
        try await simulated { simulator, endpoints, curl in
            let rules = #"[{"provider":"apns","share":0.25,"answer":{"status":503,"reason":"ServiceUnavailable"},"retryAfter":7}]"#
            let set = try await curl("PUT", "\(endpoints.controlURL)/faults?seed=3", body: rules)
            #expect(set.status == 200)
            let range = String(repeating: "a", count: 60) + "[1000-1499]"
            _ = try await push(curl, simulator, endpoints, token: range)
            let failed = simulator.statistics.count(.apns, "503 ServiceUnavailable")
            #expect((95...155).contains(failed))
            #expect(simulator.statistics.count(.apns, "200") == 500 - failed)
            #expect(simulator.statistics.connections["apns"] == 1)
            #expect(simulator.faults.first?.hits == failed)
            #expect(simulator.requests().first { $0.status == 503 }?.answerHeader("retry-after") == "7")

            simulator.setFaults([FaultRule(.apns, status: 410, reason: "Unregistered", times: 1, timestamp: 42)])
            let first = try await push(curl, simulator, endpoints)
            #expect(first.status == 410)
            #expect(first.body == #"{"reason":"Unregistered","timestamp":42}"#)
            let second = try await push(curl, simulator, endpoints)
            #expect(second.status == 200)
        }
    }

    @Test("a hanging request ends with the sender, a reset one without an answer")
    func silence() async throws {
        try await simulated { simulator, endpoints, curl in
            simulator.setFaults([
                FaultRule(provider: .apns, times: 1, effect: .hang), FaultRule(provider: .apns, times: 1, effect: .reset),
                FaultRule(provider: .apns, times: 1, effect: .html(status: 502)),
            ])
            let hanging = try await push(curl, simulator, endpoints, extra: ["--max-time", "3"])
            #expect(hanging.exit == 28)
            let reset = try await push(curl, simulator, endpoints)
            #expect(reset.status == 0)
            #expect(reset.exit != 0 && reset.exit != 28)
            let html = try await push(curl, simulator, endpoints)
            #expect(html.status == 502)
            #expect(html.headers["content-type"]?.hasPrefix("text/html") == true)
            #expect(simulator.statistics.count(.apns, "hang") == 1)
            #expect(simulator.statistics.count(.apns, "reset") == 1)
        }
    }

    @Test("the control port says what it does not understand, and knows the endpoints")
    func control() async throws {
        try await simulated { _, endpoints, curl in
            let wrong = try await curl("PUT", "\(endpoints.controlURL)/faults", body: #"[{"provider":"apns","hang":true,"tokns":[]}]"#)
            #expect(wrong.status == 400)
            #expect((wrong.json["error"] as? String)?.hasPrefix("faults[0].tokns: unknown key") == true)
            let broken = try await curl("PUT", "\(endpoints.controlURL)/faults", body: "[")
            #expect(broken.status == 400)
            let stats = try await curl("GET", "\(endpoints.controlURL)/stats")
            #expect(stats.json["total"] as? Int == 0)
            let root = try await curl("GET", endpoints.controlURL)
            #expect(root.json["apnsURL"] as? String == endpoints.apnsURL)
            let cleared = try await curl("DELETE", "\(endpoints.controlURL)/faults")
            #expect(cleared.status == 204)
        }
    }

    @Test("a taken port is an error, also for those who wait")
    func takenPort() async throws {
        try await simulated { simulator, endpoints, _ in
            var configuration = simulator.configuration
            configuration.apnsPort = try #require(URL(string: endpoints.apnsURL)?.port)
            configuration.credentials = simulator.credentials
            let error = await #expect(throws: SimulatorError.self) {
                try await ProviderSimulator.running(configuration) { _, _ in }
            }
            #expect(error?.description.contains("APNs port \(configuration.apnsPort) on 127.0.0.1") == true)
        }
    }

    @Test("stopping ends a request that hangs")
    func stopWhileHanging() async throws {
        try await withThrowingTaskGroup(of: Curl.Answer.self) { group in
            try await simulated { simulator, endpoints, curl in
                simulator.setFaults([FaultRule(provider: .apns, effect: .hang)])
                group.addTask { try await push(curl, simulator, endpoints) }
                try await eventually("it arrives") { simulator.statistics.total > 0 }
            }
            let answer = try #require(try await group.next())
            #expect(answer.status != 200)
            #expect(answer.exit != 28)
        }
    }

    @Test("many requests at once are each answered and counted")
    func parallel() async throws {
        try await simulated { simulator, endpoints, curl in
            let range = String(repeating: "b", count: 60) + "[1000-1999]"
            _ = try await push(curl, simulator, endpoints, token: range, extra: ["--parallel", "--parallel-max", "80"])
            #expect(simulator.statistics.count(.apns, "200") == 1000)
            #expect(Set(simulator.requests().map(\.token)).count == 1000)
            #expect(simulator.statistics.total == 1000)
        }
    }

    @Test("an answer can be delayed")
    func delay() async throws {
        try await simulated { simulator, endpoints, curl in
            simulator.setFaults([FaultRule(provider: .apns, delayMs: 200, effect: .delayOnly)])
            let elapsed = try await ContinuousClock().measure {
                let answer = try await push(curl, simulator, endpoints)
                #expect(answer.status == 200)
            }
            #expect(elapsed >= .milliseconds(200))
        }
    }

    @Test("kept credentials are the same at the next start, and private")
    func keptCredentials() throws {
        try withDirectory { directory in
            let first = try SimulatorCredentials.kept(in: directory)
            #expect(try SimulatorCredentials.kept(in: directory) == first)
            let file = directory + "/simulator-credentials.json"
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }
}

extension EndToEndTests {
    static let alert = #"{"aps":{"alert":{"title":"Goal","body":"1:0"}}}"#

    private struct ProviderTokenClaims: JWTPayload {
        var iss: String
        var iat: Int
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private struct AssertionClaims: JWTPayload {
        var iss: String
        var scope = "https://www.googleapis.com/auth/firebase.messaging"
        var aud: String
        var iat: Int
        var exp: Int
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private func simulated(_ body: (ProviderSimulator, SimulatorEndpoints, Curl) async throws -> Void) async throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var configuration = SimulatorConfiguration(directory: directory)
        configuration.credentials = try credentials()
        try await ProviderSimulator.running(configuration) { simulator, endpoints in
            try await body(simulator, endpoints, Curl(caFile: endpoints.caFile))
        }
    }

    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory)
    }

    private func temporaryDirectory() -> String {
        FileManager.default.temporaryDirectory.appending(path: "simulator \(UUID().uuidString)").path(percentEncoded: false)
    }

    private func push(
        _ curl: Curl,
        _ simulator: ProviderSimulator,
        _ endpoints: SimulatorEndpoints,
        token: String = deviceToken,
        headers: [String: String] = [:],
        extra: [String] = []
    ) async throws -> Curl.Answer {
        let key = simulator.credentials.apns
        let keys = await JWTKeyCollection().add(
            ecdsa: try ES256PrivateKey(pem: key.privateKeyPEM),
            kid: JWKIdentifier(string: key.keyId)
        )
        let jwt = try await keys.sign(
            ProviderTokenClaims(iss: key.teamId, iat: Int(Timestamp.now().seconds)),
            kid: JWKIdentifier(string: key.keyId)
        )
        let usual = ["authorization": "bearer \(jwt)", "apns-topic": "com.example.app", "apns-push-type": "alert"]
        return try await curl(
            "POST",
            "\(endpoints.apnsURL)/3/device/\(token)",
            headers: usual.merging(headers) { $1 },
            body: Self.alert,
            extra: extra
        )
    }

    private func accessToken(_ curl: Curl, _ simulator: ProviderSimulator, _ endpoints: SimulatorEndpoints) async throws -> String {
        let account = simulator.credentials.google
        let keys = await JWTKeyCollection().add(
            rsa: try Insecure.RSA.PrivateKey(pem: account.privateKeyPEM),
            digestAlgorithm: .sha256,
            kid: JWKIdentifier(string: account.privateKeyId)
        )
        let now = Int(Timestamp.now().seconds)
        let jwt = try await keys.sign(
            AssertionClaims(iss: account.clientEmail, aud: endpoints.oauthTokenURL, iat: now, exp: now + 3600),
            kid: JWKIdentifier(string: account.privateKeyId)
        )
        let answer = try await curl(
            "POST",
            endpoints.oauthTokenURL,
            headers: ["content-type": "application/x-www-form-urlencoded"],
            body: "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(jwt)"
        )
        #expect(answer.status == 200)
        #expect(answer.json["expires_in"] as? Int == 3599)
        return try #require(answer.json["access_token"] as? String)
    }

    private func send(
        _ curl: Curl,
        _ simulator: ProviderSimulator,
        _ endpoints: SimulatorEndpoints,
        bearer: String
    ) async throws -> Curl.Answer {
        let body: JSONValue = ["message": ["token": .string(fcmToken), "notification": ["title": "Goal", "body": "1:0"]]]
        return try await curl(
            "POST",
            "\(endpoints.fcmURL)/v1/projects/\(simulator.credentials.google.projectId)/messages:send",
            headers: ["authorization": "Bearer \(bearer)", "content-type": "application/json"],
            body: String(decoding: body.bytes, as: UTF8.self)
        )
    }
}
