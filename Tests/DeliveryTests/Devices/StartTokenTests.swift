import Delivery
import HTTPServer
import HTTPTypes
import HummingbirdTesting
import Postgres
import PushContract
import ServiceKit
import Testing

@Suite("Start tokens")
struct StartTokenTests {
    private let path = "/devices/push-to-start-token"
    private let alias = "/api/users/live-activity-token"

    private func body(_ start: Int, _ more: String = "") -> String {
        #"{"deviceId": "phone", "pushToStartToken": "\#(RegistryBench.startToken(start))"\#(more)}"#
    }

    @Test("D-01 P-3.1: registering one kind of token never changes the other")
    func kindsStayApart() async throws {
        try await RegistryBench.with { bench in
            let registered = try await bench.register("ann", "phone", token: 1)
            let started = try await bench.registerStart("ann", "phone", start: 1)
            #expect(started.tokenHash == registered.tokenHash && started.registrationVersion == registered.registrationVersion)
            #expect(started.startToken?.hash == (try TokenHash.apns(RegistryBench.startToken(1))))
            let rotated = try await bench.register("ann", "phone", token: 2)
            #expect(rotated.startToken == started.startToken)
            let stored = try await bench.pool.query("SELECT pushTokenHash <> pushToStartTokenHash FROM devices")[0].decode(Bool.self)
            #expect(stored)
        }
    }

    @Test("D-03 G-05: the start token is set by its own call, one for each device, rotating in place")
    func registers() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.withRoutes { client in
                let answer = try await client.call(.post, path, as: "ann", body(1))
                #expect(answer.status == .ok && answer.string("pushToStartToken", "state") == "active")
                #expect(!answer.text.contains(RegistryBench.startToken(1)) && answer.string("unregisterSecret") == nil)
                #expect(try await client.call(.post, path, as: "ann", body(2)).status == .ok)
            }
            #expect(try await bench.count("devices") == 1)
            #expect(try await bench.starts(of: ["ann"]).map(\.token.rawValue) == [RegistryBench.startToken(2)])
            #expect(try await bench.attempts() == ["register ann", "register ann liveactivity", "register ann liveactivity"])
        }
    }

    @Test("A4: a start token for an unknown device is 404 device_not_registered, also another user's device")
    func unknownDevice() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("bob", "phone", token: 1)
            try await bench.withRoutes { client in
                let answer = try await client.call(.post, path, as: "ann", body(1))
                #expect(answer.status == .notFound && answer.string("code") == "device_not_registered")
                #expect(answer.text.contains("POST /devices"))
                #expect(try await client.call(.post, path, as: nil, body(1)).status == .unauthorized)
                #expect(try await client.call(.post, path, as: "service", body(1)).status == .forbidden)
            }
            #expect(try await bench.starts(of: ["ann", "bob"]).isEmpty)
        }
    }

    @Test(
        "P-2.4: below iOS 17.2 a start token is refused, by the version reported now or at registration",
        arguments: [("17.1", nil), ("16.7.2", nil), (nil, "17.1.2"), ("iOS 17.0", nil), ("17.3", "15.8")] as [(String?, String?)]
    )
    func tooOld(registered: String?, told: String?) async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1, os: registered)
            try await bench.withRoutes { client in
                let answer = try await client.call(.post, path, as: "ann", body(1, told.map { #", "osVersion": "\#($0)""# } ?? ""))
                #expect(answer.status == .unprocessableContent && answer.string("code") == "push_to_start_unsupported")
                #expect(answer.string("pointer") == "/osVersion" && answer.text.contains("17.2"))
            }
            #expect(try await bench.starts(of: ["ann"]).isEmpty)
            #expect(try await bench.refusals() == ["ann liveactivity failed token_invalid push_to_start_unsupported"])
        }
    }

    @Test("from iOS 17.2 on, and where the version is not known, it is taken", arguments: ["17.2", "17.2.1", "18", "26.0", nil])
    func newEnough(version: String?) async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1, os: version)
            #expect(try await bench.registerStart("ann", "phone", start: 1).startToken?.state == .active)
        }
    }

    @Test("absent is not null: without the field nothing is cleared, with null the token is")
    func absentIsNotNull() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            try await bench.withRoutes { client in
                let absent = try await client.call(.post, path, as: "ann", #"{"deviceId": "phone"}"#)
                #expect(absent.status == .unprocessableContent && absent.string("pointer") == "/pushToStartToken")
                #expect(try await bench.starts(of: ["ann"]).count == 1)
                let null = try await client.call(.post, path, as: "ann", #"{"deviceId": "phone", "pushToStartToken": null}"#)
                #expect(null.status == .ok && null.json["pushToStartToken"] == nil)
                #expect(try await bench.starts(of: ["ann"]).isEmpty)
            }
            #expect(try await bench.attempts().last == "unregister ann liveactivity")
        }
    }

    @Test("P-2.2: the alias takes PUT and POST, with a deviceId or for the user's only iOS device; with several it is 409")
    func alias() async throws {
        try await RegistryBench.with { bench in
            try await bench.withRoutes { client in
                let token = #"{"liveActivityToken": "\#(RegistryBench.startToken(1))"}"#
                let none = try await client.call(.put, alias, as: "ann", token)
                #expect(none.status == .notFound && none.string("code") == "device_not_registered")
                try await bench.register("ann", "phone", token: 1)
                #expect(try await client.call(.put, alias, as: "ann", token).status == .ok)
                #expect(try await client.call(.post, alias, as: "ann", token).status == .ok)
                #expect(try await bench.starts(of: ["ann"]).count == 1)
                try await bench.register("ann", "tablet", token: 2)
                let ambiguous = try await client.call(.put, alias, as: "ann", token)
                #expect(ambiguous.status == .conflict && ambiguous.string("code") == "device_ambiguous")
                let named = #"{"liveActivityToken": null, "deviceId": "phone"}"#
                #expect(try await client.call(.put, alias, as: "ann", named).status == .ok)
                #expect(try await bench.starts(of: ["ann"]).isEmpty)
            }
        }
    }

    @Test("a device's push token is not taken for its start token, nor the other way round")
    func mixedUp() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.withRoutes { client in
                let wrong = #"{"deviceId": "phone", "pushToStartToken": "\#(RegistryBench.token(1))"}"#
                let answer = try await client.call(.post, path, as: "ann", wrong)
                #expect(answer.status == .unprocessableContent && answer.string("code") == "token_kind_mixed_up")
                try await bench.registerStart("ann", "phone", start: 1)
                let other =
                    #"{"deviceId": "phone", "platform": "ios", "app": "com.example.app", "pushToken": "\#(RegistryBench.startToken(1))"}"#
                #expect(try await client.call(.post, "/devices", as: "ann", other).string("code") == "token_kind_mixed_up")
            }
            #expect(
                try await bench.refusals() == [
                    "ann - failed token_invalid token_kind_mixed_up", "ann liveactivity failed token_invalid token_kind_mixed_up",
                ]
            )
            #expect(try await bench.device("ann", "phone")?.tokenHash == (try TokenHash.apns(RegistryBench.token(1))))
        }
    }

    @Test("Android has no start token")
    func android() async throws {
        try await RegistryBench.with { bench in
            let registration = DeviceRegistration(
                userId: "ann",
                deviceId: "phone",
                token: try PushToken("fcm-token", provider: .fcm),
                platform: .android,
                provider: .fcm,
                app: "a"
            )
            _ = try await bench.store.register(registration, requestId: "r", now: bench.clock.now)
            try await bench.withRoutes { client in
                let answer = try await client.call(.post, path, as: "ann", body(1))
                #expect(answer.string("code") == "push_to_start_unsupported" && answer.string("pointer") == "/deviceId")
            }
        }
    }

    @Test("another user signs in on the phone: push token and start token move, and the first user's device says so")
    func moves() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            try await bench.register("bob", "phone", token: 1)
            #expect(try await bench.starts(of: ["ann", "bob"]).map(\.userId) == ["bob"])
            #expect(try await bench.pushTargets(of: ["ann", "bob"]).map(\.userId) == ["bob"])
            let left = try await bench.device("ann", "phone")
            #expect(left?.tokenStateCause == "moved" && left?.startToken?.cause == "moved" && left?.startToken?.state == .inactive)
            #expect(bench.removals.all == [DeviceRemoval(userId: "ann", deviceId: "phone", cause: .moved)])
            try await bench.register("ann", "phone", token: 1)
            #expect(try await bench.starts(of: ["ann", "bob"]).map(\.userId) == ["ann"])
        }
    }

    @Test("a start token that another device registers is no longer the first one's")
    func taken() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            try await bench.register("ann", "reinstalled", token: 2)
            try await bench.registerStart("ann", "reinstalled", start: 1)
            #expect(try await bench.starts(of: ["ann"]).map(\.deviceId) == ["reinstalled"])
            #expect(try await bench.device("ann", "phone")?.startToken?.cause == "moved")
        }
    }

    @Test("the usable start tokens of many users are found, of all apps or of one")
    func targets() async throws {
        try await RegistryBench.with { bench in
            for number in 0..<6 {
                try await bench.register(
                    "user-\(number % 3)",
                    "device-\(number)",
                    token: number,
                    app: number == 5 ? "other" : "com.example.app"
                )
                if number != 4 { try await bench.registerStart("user-\(number % 3)", "device-\(number)", start: number) }
            }
            let found = try await bench.starts(of: ["user-0", "user-1", "user-2"])
            #expect(found.map(\.deviceId) == ["device-0", "device-3", "device-1", "device-2", "device-5"])
            #expect(found.map(\.token.rawValue) == [0, 3, 1, 2, 5].map(RegistryBench.startToken))
            #expect(try await bench.starts(of: ["user-2"], app: "other").map(\.deviceId) == ["device-5"])
        }
    }

    private func feedback(_ target: StartTarget, _ verdict: TokenFeedback.Verdict, at now: Timestamp) -> TokenFeedback {
        TokenFeedback(
            verdict: verdict,
            tokenHash: target.token.hash,
            provider: .apns,
            app: target.app,
            cause: "Unregistered",
            registrationVersion: target.version,
            sentAt: now
        )
    }

    @Test("a 410 on a start clears the start token alone; the push token stays")
    func off() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            let target = try await bench.starts(of: ["ann"])[0]
            let feedback = feedback(target, .deactivate(goneAt: nil), at: bench.clock.now)
            let now = bench.clock.now
            let off = try await bench.pool.performTransaction { try StartTokens.apply([feedback], on: $0, now: now) }
            #expect(off == [0])
            #expect(try await bench.starts(of: ["ann"]).isEmpty)
            let device = try await bench.device("ann", "phone")
            #expect(device?.tokenState == .active && device?.startToken?.state == .inactive && device?.startToken?.cause == "Unregistered")
            #expect(try await bench.count("devices WHERE pushToStartToken IS NOT NULL") == 0)
            // The same strike on the push token's guard finds nothing: the kinds never cross.
            let crossed = try await bench.pool.performTransaction { try DeviceTokens.apply([feedback], on: $0, now: now) }
            #expect(crossed.isEmpty)
        }
    }

    @Test("a late answer about an older registration of the start token does not count")
    func lateAnswer() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            let target = try await bench.starts(of: ["ann"])[0]
            let sentAt = bench.clock.now
            bench.clock.advance(by: .seconds(10))
            try await bench.registerStart("ann", "phone", start: 1)
            let now = bench.clock.now
            let feedbackBatch = [
                feedback(target, .deactivate(goneAt: nil), at: sentAt), feedback(target, .deactivate(goneAt: sentAt), at: sentAt),
            ]
            let off = try await bench.pool.performTransaction { try StartTokens.apply(feedbackBatch, on: $0, now: now) }
            #expect(off.isEmpty)
            #expect(try await bench.starts(of: ["ann"]).count == 1)
        }
    }

    @Test("a suspect start token rests for an hour, then a second refusal deactivates it and a success clears it")
    func suspect() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            let target = try await bench.starts(of: ["ann"])[0]
            func apply(_ verdict: TokenFeedback.Verdict) async throws {
                let (feedback, now) = (feedback(target, verdict, at: bench.clock.now), bench.clock.now)
                _ = try await bench.pool.performTransaction { try StartTokens.apply([feedback], on: $0, now: now) }
            }
            try await apply(.suspect)
            #expect(try await bench.starts(of: ["ann"]).isEmpty)
            try await apply(.suspect)
            bench.clock.advance(by: .seconds(3601))
            #expect(try await bench.starts(of: ["ann"]).first?.state == .suspect)
            try await apply(.valid)
            #expect(try await bench.starts(of: ["ann"]).first?.state == .active)
            try await apply(.suspect)
            bench.clock.advance(by: .seconds(3601))
            try await apply(.suspect)
            #expect(try await bench.device("ann", "phone")?.startToken?.state == .inactive)
        }
    }
}
