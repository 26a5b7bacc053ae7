import Delivery
import HTTPTypes
import HummingbirdTesting
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("A user's devices")
struct DeviceAccountTests {
    private static let token = RegistryBench.token(1)

    @Test("seed 000's own body registers where one app of one platform is configured, and nowhere else")
    func seedBody() async throws {
        try await RegistryBench.with { bench in
            let body = #"{"pushToken": "\#(Self.token)", "deviceId": "phone", "osVersion": "18.2", "appVersion": "2.1.0"}"#
            try await bench.withRoutes(defaults: DeviceDefaults(platform: .ios, app: "com.example.only")) { client in
                let answer = try await client.call(.post, "/devices", as: "ann", body)
                #expect(answer.status == .ok)
                #expect(answer.string("platform") == "ios" && answer.string("app") == "com.example.only")
                #expect(answer.string("environment") == "production")
            }
            #expect(try await bench.device("ann", "phone")?.tokenHash == TokenHash.apns(Self.token))
            try await bench.withRoutes { client in
                let answer = try await client.call(.post, "/devices", as: "ann", body)
                #expect(answer.status == .unprocessableContent)
                #expect(answer.string("pointer") == "/platform")
            }
        }
    }

    @Test("G-24: a user and a device have one row, whatever becomes of their tokens")
    func key() async throws {
        try await RegistryBench.with { bench in
            for token in [1, 2, 1] { try await bench.register("ann", "phone", token: token) }
            #expect(try await bench.count("devices") == 1)
            try await bench.register("ann", "tablet", token: 2)
            try await bench.register("bob", "phone", token: 3)
            let rows = try await bench.pool.query("SELECT userId || ' ' || deviceId FROM devices ORDER BY 1")
            #expect(try rows.map { try $0.decode(String.self) } == ["ann phone", "ann tablet", "bob phone"])
        }
    }

    @Test("a user lists their devices, and a service those of a uid, the latest first")
    func list() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            bench.clock.advance(by: .seconds(1))
            try await bench.register("ann", "tablet", token: 2)
            try await bench.register("bob", "bobs", token: 3)
            try await bench.withRoutes { client in
                for (caller, query) in [("ann", ""), ("ann", "?uid=bob"), ("service", "?uid=ann")] {
                    let answer = try await client.call(.get, "/devices\(query)", as: caller)
                    #expect(answer.status == .ok)
                    let ids = answer.text.matches(of: #/"deviceId":"(\w+)"/#).map { String($0.1) }
                    #expect(ids == ["tablet", "phone"])
                    #expect(!answer.text.contains(Self.token))
                }
                for query in ["", "?uid=", "?uid=" + String(repeating: "a", count: 257)] {
                    let answer = try await client.call(.get, "/devices\(query)", as: "service")
                    #expect(answer.status == .unprocessableContent, "\(query)")
                }
                #expect(try await client.call(.get, "/devices?uid=%00", as: "service").status == .badRequest)
            }
        }
    }

    @Test("with one device more than a user may have, the one seen longest ago is unregistered")
    func limit() async throws {
        try await RegistryBench.with(limit: 3) { bench in
            // The first comes back, and so is not the one seen longest ago.
            for number in [1, 2, 3, 1, 4, 5] {
                bench.clock.advance(by: .seconds(1))
                try await bench.register("ann", "device-\(number)", token: number)
            }
            #expect(try await bench.store.devices(of: "ann", now: bench.clock.now).map(\.deviceId) == ["device-5", "device-4", "device-1"])
            #expect(bench.removals.all.map(\.deviceId) == ["device-2", "device-3"])
            #expect(try await bench.count("notificationDeliveryAttempts WHERE eventType = 'unregister'") == 2)
        }
    }

    @Test("the start token of a device that has not said its iOS version is kept, and used once it has said 17.2")
    func unknownVersion() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1, os: nil)
            try await bench.registerStart("ann", "phone", start: 1)
            #expect(try await bench.device("ann", "phone")?.startToken?.state == .active)
            for (version, used) in [("unknown", false), ("17.1.9", false), ("iOS 17.2", true), ("17.10", true), ("18", true)] {
                try await bench.register("ann", "phone", token: 1, os: version)
                #expect(try await bench.starts(of: ["ann"]).count == (used ? 1 : 0), "\(version)")
            }
        }
    }

    @Test(
        "tokens of a length that no push service issues are 422",
        arguments: ["ab", String(repeating: "ab", count: 31), String(repeating: "ab", count: 513)]
    )
    func lengths(token: String) async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.withRoutes { client in
                let push = #"{"deviceId": "phone", "platform": "ios", "app": "a", "pushToken": "\#(token)"}"#
                let start = #"{"deviceId": "phone", "pushToStartToken": "\#(token)"}"#
                for (path, body) in [("/devices", push), ("/devices/push-to-start-token", start)] {
                    let answer = try await client.call(.post, path, as: "ann", body)
                    #expect(answer.status == .unprocessableContent)
                    #expect(!answer.text.contains(token) || token.count < 3)
                }
            }
        }
    }

    @Test("a user who is erased has no device, token, waiting send or receipt; their attempts stay; users erase themselves alone")
    func erase() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.register("bob", "bobs", token: SendingBench.token(2))
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            try await bench.dispatch(ScriptedProvider())
            try await bench.enqueue(#"{"sendId": "s2", "uid": "ann", "title": "Goal"}"#)
            try await bench.enqueue(#"{"sendId": "s3", "uid": "bob", "title": "Goal"}"#)
            let attempts = try await bench.count("notificationDeliveryAttempts WHERE uid = 'ann'")
            try await bench.devices.erase(userId: "ann", requestId: "erase", recording: .test())
            for table in [
                "devices WHERE userId = 'ann'", "pushDeliveries WHERE uid = 'ann'", "pushSends WHERE sendId <> 's3'", "pushFinished",
            ] {
                #expect(try await bench.count(table) == 0, "\(table)")
            }
            #expect(try await bench.count("notificationDeliveryAttempts WHERE uid = 'ann'") == attempts + 1)
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["s3"])
        }
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.withRoutes { client in
                let stranger = try await client.call(.delete, "/users/ann", as: "bob")
                #expect(stranger.status == .forbidden)
                let answer = try await client.call(.delete, "/users/ann", as: "ann")
                #expect(answer.status == .noContent)
            }
            #expect(try await bench.count("devices") == 0)
        }
    }

    @Test("a user cannot erase another one whose uid Unicode takes for the same text")
    func equivalentUser() async throws {
        try await RegistryBench.with { bench in
            // U+212A, the Kelvin sign, is canonically equivalent to K.
            try await bench.register("\u{212A}im", "phone", token: 1)
            try await bench.withRoutes { client in
                let answer = try await client.call(.delete, "/users/%E2%84%AAim", as: "Kim")
                #expect(answer.status == .forbidden)
            }
            #expect(try await bench.count("devices") == 1)
        }
    }
}
