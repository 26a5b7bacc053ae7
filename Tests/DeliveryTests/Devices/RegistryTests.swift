import Delivery
import HTTPServer
import HTTPTypes
import HummingbirdTesting
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

@Suite("The registry")
struct RegistryTests {
    private let body = #"{"deviceId": "phone", "platform": "ios", "app": "com.example.app", "osVersion": "18.2", "appVersion": "2.1.0", "#

    @Test("D-06: devices are keyed by user and device, never by the token")
    func key() async throws {
        try await RegistryBench.with { bench in
            let columns = try await bench.pool.query(
                """
                SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
                WHERE i.indrelid = 'devices'::regclass AND i.indisprimary ORDER BY 1
                """
            )
            #expect(try columns.map { try $0.decode(String.self) } == ["deviceid", "userid"])
            try await bench.register("ann", "phone", token: 1)
            try await bench.register("ann", "phone", token: 2)
            #expect(try await bench.count("devices") == 1)
        }
    }

    @Test("D-07: a user has many devices, each registered for itself, and none displaces another")
    func manyDevices() async throws {
        try await RegistryBench.with { bench in
            for number in 1...3 { try await bench.register("ann", "device-\(number)", token: number) }
            #expect(try await bench.pushTargets(of: ["ann"]).map(\.deviceId) == ["device-1", "device-2", "device-3"])
        }
    }

    @Test("D-08: token rotation updates the same row in place, and the old token is nobody's")
    func rotation() async throws {
        try await RegistryBench.with { bench in
            let first = try await bench.register("ann", "phone", token: 1)
            let second = try await bench.register("ann", "phone", token: 2)
            #expect(try await bench.count("devices") == 1)
            #expect(first.tokenHash != second.tokenHash)
            #expect(try await bench.count("devices WHERE pushTokenHash = '\(first.tokenHash)'") == 0)
            #expect(second.registeredAt == first.registeredAt)
        }
    }

    @Test("D-09: a reinstalled app has a new deviceId; the old row stays until 90 days have passed")
    func reinstall() async throws {
        try await RegistryBench.with(records: false) { bench in
            try await bench.register("ann", "before", token: 1)
            bench.clock.advance(by: .seconds(86_400))
            try await bench.register("ann", "after", token: 2)
            #expect(try await bench.pushTargets(of: ["ann"]).count == 2)
            bench.clock.advance(by: .seconds(89 * 86_400 + 1))
            #expect(try await bench.pushTargets(of: ["ann"]).map(\.deviceId) == ["after"])
        }
    }

    @Test("D-10: a registration keeps every attribute of the seed, and shows it again")
    func attributes() async throws {
        try await RegistryBench.with { bench in
            try await bench.withRoutes { client in
                let answer = try await client.call(.post, "/devices", as: "ann", body + #""pushToken": "\#(RegistryBench.token(1))"}"#)
                #expect(answer.status == .ok)
                let shown = try await client.call(.get, "/devices/phone", as: "ann")
                #expect(shown.string("osVersion") == "18.2" && shown.string("appVersion") == "2.1.0")
                #expect(shown.string("lastSeenAt") != nil && shown.string("expiresAt") != nil)
                #expect(shown.string("pushToken", "state") == "active")
            }
            let columns = try await bench.pool.query(
                "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'devices' AND table_schema = current_schema()"
            )
            let names = Set(try columns.map { try $0.decode(String.self) })
            #expect(
                names.isSuperset(of: [
                    "userid", "deviceid", "pushtoken", "pushtostarttoken", "osversion", "appversion", "lastseenat", "expiresat", "platform",
                    "provider", "environment", "app",
                ])
            )
        }
    }

    @Test("the locale that an app registers is kept and shown; a registration without one leaves it")
    func locale() async throws {
        try await RegistryBench.with { bench in
            try await bench.withRoutes { client in
                let token = #""pushToken": "\#(RegistryBench.token(1))""#
                let answer = try await client.call(.post, "/devices", as: "ann", body + #""locale": "de-AT", \#(token)}"#)
                #expect(answer.status == .ok && answer.string("locale") == "de-AT")
                #expect(try await client.call(.post, "/devices", as: "ann", body + token + "}").string("locale") == "de-AT")
                #expect(try await client.call(.get, "/devices/phone", as: "ann").string("locale") == "de-AT")
                let refused = try await client.call(.post, "/devices", as: "ann", body + #""locale": "d", \#(token)}"#)
                #expect(refused.status == .unprocessableContent && refused.string("pointer") == "/locale")
            }
            #expect(try await bench.device("ann", "phone")?.locale == "de-AT")
        }
    }

    @Test("D-05: no column of devices can hold an update token")
    func noUpdateToken() async throws {
        try await RegistryBench.with { bench in
            let columns = try await bench.pool.query(
                "SELECT count(*) FROM information_schema.columns WHERE table_name = 'devices' AND column_name ILIKE '%update%'"
            )
            #expect(try columns[0].decode(Int.self) == 0)
        }
    }

    @Test("D-11: every registration refreshes lastSeenAt, and expiresAt is 90 days later")
    func lastSeen() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            bench.clock.advance(by: .seconds(5000))
            let again = try await bench.register("ann", "phone", token: 1)
            #expect(again.lastSeenAt == bench.clock.now)
            #expect(again.expiresAt == bench.clock.now + .seconds(90 * 86_400))
            try await bench.withRoutes { client in
                let shown = try await client.call(.get, "/devices/phone", as: "ann")
                #expect(Timestamp(rfc3339: shown.string("lastSeenAt") ?? "") == again.lastSeenAt)
                #expect(Timestamp(rfc3339: shown.string("expiresAt") ?? "") == again.expiresAt)
            }
        }
    }

    @Test("D-12: on day 91 a device is hidden from every read, and then swept")
    func expiry() async throws {
        try await RegistryBench.with(records: false) { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            bench.clock.advance(by: .seconds(91 * 86_400))
            try await bench.register("bob", "tablet", token: 2)
            #expect(try await bench.device("ann", "phone") == nil)
            #expect(try await bench.pushTargets(of: ["ann"]).isEmpty)
            #expect(try await bench.starts(of: ["ann"]).isEmpty)
            #expect(try await bench.count("devices") == 2)
            #expect(try await bench.store.sweep(now: bench.clock.now) == 1)
            #expect(try await bench.count("devices") == 1)
            #expect(bench.removals.all == [DeviceRemoval(userId: "ann", deviceId: "phone", cause: .expired)])
        }
    }

    @Test("A3 A5: devices of users who never come back go away, 90 days after they were last seen and not before")
    func sweep() async throws {
        try await RegistryBench.with(records: false) { bench in
            for number in 0..<12 {
                try await bench.register("user-\(number)", "phone-\(number)", token: number)
                bench.clock.advance(by: .seconds(86_400))
            }
            bench.clock.advance(by: .seconds(84 * 86_400))
            let gone = 7
            #expect(try await bench.store.sweep(limit: 5, now: bench.clock.now) == 5)
            #expect(try await bench.store.sweep(limit: 5, now: bench.clock.now) == gone - 5)
            #expect(try await bench.count("devices") == 12 - gone)
        }
    }

    @Test("A5: the sweeper removes expired devices by itself, again and again")
    func sweeper() async throws {
        try await RegistryBench.with(records: false) { bench in
            let clock = bench.clock
            let sweeper = DeviceSweeper(store: bench.store, interval: .milliseconds(10), now: { clock.now }, logger: .silent)
            let running = Task { try await sweeper.run() }
            for number in 1...2 {
                try await bench.register("user-\(number)", "phone-\(number)", token: number)
                clock.advance(by: .seconds(91 * 86_400))
                try await eventually("they are gone") { try await bench.count("devices") == 0 }
            }
            running.cancel()
            _ = try? await running.value
        }
    }

    @Test("an expired device that comes back begins anew: its start token is not revived")
    func comesBack() async throws {
        try await RegistryBench.with(records: false) { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            bench.clock.advance(by: .seconds(91 * 86_400))
            let back = try await bench.register("ann", "phone", token: 1)
            #expect(back.startToken == nil && back.registeredAt == bench.clock.now)
        }
    }

    @Test("a registration's versions replace the earlier ones, and what it leaves out stays as it was")
    func absentIsNotNull() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1, os: "18.2")
            #expect(try await bench.register("ann", "phone", token: 1, os: nil).osVersion == "18.2")
            #expect(try await bench.register("ann", "phone", token: 1, os: "18.3").osVersion == "18.3")
            try await bench.withRoutes { client in
                let token = #""pushToken": "\#(RegistryBench.token(1))"}"#
                _ = try await client.call(.post, "/devices", as: "ann", body + token)
                let newer = try await client.call(.post, "/devices", as: "ann", body.replacing("2.1.0", with: "2.2.0") + token)
                #expect(newer.string("appVersion") == "2.2.0")
            }
        }
    }

    @Test("D-16 G-06: sign-out removes the device, with an attempt; then nothing of it can be reached")
    func signOut() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            try await bench.withRoutes { client in
                let stranger = try await client.call(.delete, "/devices/phone", as: "bob")
                #expect(stranger.status == .noContent)
                #expect(try await bench.count("devices") == 1)
                #expect(try await client.call(.delete, "/devices/phone", as: "ann").status == .noContent)
                #expect(try await client.call(.delete, "/devices/phone", as: "ann").status == .noContent)
            }
            #expect(try await bench.count("devices") == 0)
            #expect(try await bench.pushTargets(of: ["ann"]).isEmpty)
            #expect(try await bench.starts(of: ["ann"]).isEmpty)
            #expect(bench.removals.all == [DeviceRemoval(userId: "ann", deviceId: "phone", cause: .unregistered)])
            #expect(
                try await bench.attempts().sorted() == [
                    "register ann", "register ann liveactivity", "unregister ann", "unregister ann liveactivity",
                ]
            )
        }
    }

    @Test("G-02: a registration carries platform and app version; without a platform it is refused")
    func platform() async throws {
        try await RegistryBench.with { bench in
            try await bench.withRoutes { client in
                let taken = try await client.call(.post, "/devices", as: "ann", body + #""pushToken": "\#(RegistryBench.token(1))"}"#)
                #expect(taken.string("platform") == "ios" && taken.string("appVersion") == "2.1.0")
                let answer = try await client.call(
                    .post,
                    "/devices",
                    as: "ann",
                    #"{"deviceId": "d", "app": "a", "pushToken": "\#(RegistryBench.token(1))"}"#
                )
                #expect(answer.status == .unprocessableContent && answer.string("pointer") == "/platform")
            }
        }
    }

    @Test("a deviceId that is a path under /devices is refused")
    func reservedId() async throws {
        try await RegistryBench.with { bench in
            try await bench.withRoutes { client in
                let registration =
                    #"{"deviceId": "push-to-start-token", "platform": "ios", "app": "a", "pushToken": "\#(RegistryBench.token(1))"}"#
                let answer = try await client.call(.post, "/devices", as: "ann", registration)
                #expect(answer.status == .unprocessableContent && answer.string("pointer") == "/deviceId")
            }
        }
    }

    @Test("what APNs says of a bare token in one environment changes no registration in the other", arguments: [true, false])
    func environments(isSame: Bool) async throws {
        try await RegistryBench.with { bench in
            let device = try await bench.register("ann", "phone", token: 1)
            let environment: PushEnvironment = device.environment == .sandbox ? .production : .sandbox
            var feedback = TokenFeedback(
                verdict: .deactivate(goneAt: nil),
                tokenHash: device.tokenHash,
                provider: .apns,
                app: "com.example.app",
                cause: "Unregistered",
                registrationVersion: nil,
                sentAt: bench.clock.now + .seconds(1),
                environment: environment
            )
            if isSame { feedback.environment = device.environment }
            let (said, now) = (feedback, bench.clock.now)
            let off = try await bench.pool.performTransaction { try DeviceTokens.apply([said], on: $0, now: now) }
            #expect(off == (isSame ? [0] : []))
        }
    }

    @Test("every answer has the token's state: active, then inactive with the provider's reason")
    func states() async throws {
        try await RegistryBench.with { bench in
            let device = try await bench.register("ann", "phone", token: 1)
            let feedback = TokenFeedback(
                verdict: .deactivate(goneAt: nil),
                tokenHash: device.tokenHash,
                provider: .apns,
                app: "com.example.app",
                cause: "Unregistered",
                registrationVersion: device.registrationVersion,
                sentAt: bench.clock.now
            )
            let now = bench.clock.now
            _ = try await bench.pool.performTransaction { try DeviceTokens.apply([feedback], on: $0, now: now) }
            try await bench.withRoutes { client in
                let shown = try await client.call(.get, "/devices/phone", as: "ann")
                #expect(shown.string("pushToken", "state") == "inactive")
                #expect(shown.string("pushToken", "cause") == "Unregistered")
                #expect(shown.string("pushToken", "reasonCode") == "token_not_registered")
                let again = try await client.call(.post, "/devices", as: "ann", body + #""pushToken": "\#(RegistryBench.token(1))"}"#)
                #expect(again.string("pushToken", "state") == "active" && again.string("pushToken", "reasonCode") == nil)
            }
        }
    }

    @Test("the device's secret unregisters it without a session, also the one before; another one does not")
    func unregisterSecret() async throws {
        try await RegistryBench.with { bench in
            try await bench.withRoutes { client in
                let registration = body + #""pushToken": "\#(RegistryBench.token(1))"}"#
                let first = try await client.call(.post, "/devices", as: "ann", registration).string("unregisterSecret") ?? ""
                let second = try await client.call(.post, "/devices", as: "ann", registration).string("unregisterSecret") ?? ""
                #expect(first.hasPrefix("pwd_") && first != second)
                #expect(try await client.call(.get, "/devices/phone", as: "ann").string("unregisterSecret") == nil)
                let stranger = UnregisterSecret.generate().text
                #expect(try await client.call(.delete, "/devices/phone", as: stranger).status == .notFound)
                #expect(try await client.call(.get, "/devices/phone", as: first).status == .forbidden)
                #expect(try await client.call(.post, "/devices", as: first, registration).status == .forbidden)
                #expect(try await bench.count("devices") == 1)
                #expect(try await client.call(.delete, "/devices/phone", as: first).status == .noContent)
                #expect(try await client.call(.delete, "/devices/phone", as: second).status == .notFound)
            }
            #expect(try await bench.count("devices") == 0)
            #expect(try await bench.attempts().contains("unregister ann"))
        }
    }

    @Test("keepFollows says that the user stays, with the session and with the device's secret; what is no truth value is refused")
    func keepFollows() async throws {
        try await RegistryBench.with { bench in
            try await bench.withRoutes { client in
                func register() async throws -> String {
                    let registration = body + #""pushToken": "\#(RegistryBench.token(1))"}"#
                    return try await client.call(.post, "/devices", as: "ann", registration).string("unregisterSecret") ?? ""
                }
                _ = try await register()
                #expect(try await client.call(.delete, "/devices/phone?keepFollows=maybe", as: "ann").status == .badRequest)
                #expect(try await client.call(.delete, "/devices/phone?keepFollows=true", as: "ann").status == .noContent)
                #expect(try await client.call(.delete, "/devices/phone?keepFollows=true", as: try await register()).status == .noContent)
                _ = try await register()
                #expect(try await client.call(.delete, "/devices/phone?keepFollows=false", as: "ann").status == .noContent)
            }
            #expect(bench.removals.all.map(\.cause) == [.pushDisabled, .pushDisabled, .unregistered])
        }
    }

    @Test("of the secrets only hashes are stored, and only the newest eight hold")
    func secretsAreHashed() async throws {
        try await RegistryBench.with { bench in
            let secrets = (0..<10).map { _ in UnregisterSecret.generate() }
            for secret in secrets { try await bench.register("ann", "phone", token: 1, secret: secret) }
            let stored = try await bench.pool.query("SELECT unregisterSecrets::text FROM devices")[0].decode(String.self)
            #expect(!secrets.contains { stored.contains($0.text) })
            let now = bench.clock.now
            func unregister(_ secret: UnregisterSecret) async throws -> Bool {
                try await bench.store.unregister(deviceId: "phone", secretHash: secret.hash, requestId: "r", now: now)
            }
            #expect(try await !unregister(secrets[1]))
            #expect(try await unregister(secrets[2]))
        }
    }
}
