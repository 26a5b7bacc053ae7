import Delivery
import HTTPServer
import Postgres
import PushContract
import ServiceKit
import Testing

@Suite("Devices")
struct DeviceStoreTests {
    private let token = SendingBench.token(1)

    @Test("a token belongs to one user and device: registering it elsewhere takes it away")
    func tokenMoves() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.register("bob", "phone", token: token)
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: .now())?.tokenState == .inactive)
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: .now())?.tokenStateCause == "moved")
            #expect(try await bench.devices.device(userId: "bob", deviceId: "phone", now: .now())?.tokenState == .active)
            try await bench.register("ann", "phone", token: token)
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: .now())?.tokenState == .active)
            #expect(try await bench.devices.device(userId: "bob", deviceId: "phone", now: .now())?.tokenState == .inactive)
            // The app was installed anew: the record of before stays, without the token.
            try await bench.register("ann", "reinstalled", token: token)
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: .now())?.tokenState == .inactive)
            #expect(try await bench.devices.device(userId: "ann", deviceId: "reinstalled", now: .now())?.tokenState == .active)
        }
    }

    @Test("registering again keeps the first registration's time and has a new version")
    func registersAgain() async throws {
        try await SendingBench.with { bench in
            let start = Timestamp(microseconds: Timestamp.now().seconds * 1_000_000) - .seconds(100)
            let first = try await bench.register("ann", "phone", token: token, at: start)
            let second = try await bench.register("ann", "phone", token: token, at: start + .seconds(50))
            #expect(second.registeredAt == start)
            #expect(second.lastSeenAt == start + .seconds(50))
            #expect(second.registrationVersion > first.registrationVersion)
        }
    }

    @Test("many registrations at once leave one row per device and one owner per token")
    func concurrency() async throws {
        try await SendingBench.with { bench in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<24 {
                    group.addTask {
                        try await bench.register("user-\(number % 3)", "device-\(number % 2)", token: SendingBench.token(number % 2))
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await bench.count("devices") == 6)
            #expect(try await bench.count("devices WHERE tokenState = 'active'") == 2)
        }
    }

    @Test("registration and its end leave one attempt each; a repeated request leaves none")
    func attempts() async throws {
        try await SendingBench.with { bench in
            let now = Timestamp.now()
            try await bench.register("ann", "phone", token: token, at: now, requestId: "r1")
            try await bench.register("ann", "phone", token: token, at: now, requestId: "r1")
            #expect(try await bench.devices.unregister(userId: "ann", deviceId: "phone", requestId: "r2", now: now))
            #expect(try await !bench.devices.unregister(userId: "ann", deviceId: "phone", requestId: "r3", now: now))
            let rows = try await bench.pool.query("SELECT eventType, status FROM notificationDeliveryAttempts ORDER BY eventType")
            #expect(try rows.map { try $0.decode((String, String).self).0 } == ["register", "unregister"])
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: now) == nil)
        }
    }

    @Test("a device that was not seen for 90 days is hidden")
    func expiry() async throws {
        try await SendingBench.with { bench in
            let now = Timestamp.now()
            try await bench.register("ann", "phone", token: token, at: now)
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: now + .seconds(89 * 86_400)) != nil)
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: now + .seconds(91 * 86_400)) == nil)
        }
    }

    @Test(
        "a registration with invalid content is refused with its field",
        arguments: [
            (#"{"deviceId": "d", "platform": "ios", "app": "a", "pushToken": "550e8400-e29b-41d4-a716-446655440000"}"#, "/pushToken"),
            (
                #"{"deviceId": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "platform": "ios", "app": "a", "pushToken": "0000000000000000000000000000000000000000000000000000000000000001"}"#,
                "/deviceId"
            ),
            (#"{"deviceId": "d", "platform": "ios", "app": "a", "pushToken": "not hex"}"#, "/pushToken"),
            (
                #"{"deviceId": "d", "platform": "web", "provider": "apns", "app": "a", "pushToken": "0000000000000000000000000000000000000000000000000000000000000001"}"#,
                "/provider"
            ),
            (
                #"{"deviceId": "d", "platform": "ios", "app": "a", "pushToken": "0000000000000000000000000000000000000000000000000000000000000001", "tokn": 1}"#,
                "/tokn"
            ),
            (
                #"{"deviceId": "d", "platform": "ios", "pushToken": "0000000000000000000000000000000000000000000000000000000000000001"}"#,
                "/app"
            ),
            (
                #"{"deviceId": "d", "platform": "tv", "app": "a", "pushToken": "0000000000000000000000000000000000000000000000000000000000000001"}"#,
                "/platform"
            ),
        ]
    )
    func refusals(json: String, pointer: String) {
        let problem = #expect(throws: Problem.self) { try DeviceRegistration(try JSONParser.parse(Array(json.utf8)), userId: "ann") }
        #expect(problem?.pointer == pointer)
        #expect(problem?.detail.contains("550e8400") != true)
    }

    @Test("a raw token does not show in texts made of it")
    func redaction() throws {
        let push = try PushToken(token, provider: .apns)
        let registration = DeviceRegistration(userId: "ann", deviceId: "d", token: push, platform: .ios, provider: .apns, app: "a")
        var dumped = ""
        dump(registration, to: &dumped)
        for text in ["\(push)", String(reflecting: push), "\(registration)", dumped] { #expect(!text.contains(token)) }
    }
}
