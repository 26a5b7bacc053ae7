import Delivery
import HTTPTypes
import HummingbirdTesting
import Postgres
import PushContract
import Testing

@Suite("One registry of tokens")
struct TokenRegistryTests {
    private static func device(_ deviceId: String, _ token: String) -> String {
        #"{"deviceId": "\#(deviceId)", "platform": "ios", "app": "com.example.app", "osVersion": "18.2", "pushToken": "\#(token)"}"#
    }

    private static func start(_ deviceId: String, _ token: String) -> String {
        #"{"deviceId": "\#(deviceId)", "pushToStartToken": "\#(token)"}"#
    }

    @Test("a push token that is anybody's start token is 422, and a start token that is anybody's push token")
    func kinds() async throws {
        try await RegistryBench.with { bench in
            try await bench.withRoutes { client in
                let (push, start) = (RegistryBench.token(1), RegistryBench.startToken(1))
                #expect(try await client.call(.post, "/devices", as: "ann", Self.device("phone", push)).status == .ok)
                #expect(try await client.call(.post, "/devices", as: "bob", Self.device("bobs", RegistryBench.token(2))).status == .ok)
                let path = "/devices/push-to-start-token"
                #expect(try await client.call(.post, path, as: "ann", Self.start("phone", start)).status == .ok)
                for (answer, pointer) in [
                    (try await client.call(.post, "/devices", as: "bob", Self.device("bobs", start)), "/pushToken"),
                    (try await client.call(.post, path, as: "bob", Self.start("bobs", push)), "/pushToStartToken"),
                    (
                        try await client.call(.post, "/api/users/live-activity-token", as: "bob", #"{"liveActivityToken": "\#(push)"}"#),
                        "/liveActivityToken"
                    ),
                ] {
                    #expect(answer.status == .unprocessableContent)
                    #expect(answer.string("code") == "token_kind_mixed_up")
                    #expect(answer.string("pointer") == pointer)
                }
                #expect(try await bench.device("bob", "bobs")?.tokenState == .active)
            }
        }
    }

    @Test("a start token of a named type is one like others: 422 as a push token, and no push token is 422 as one of a type")
    func typedKinds() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.register("bob", "bobs", token: 2)
            try await bench.withRoutes { client in
                func typed(_ deviceId: String, _ token: String) -> String {
                    Self.start(deviceId, token).replacing("}", with: #", "attributesType": "PagerActivityAttributes"}"#)
                }
                let path = "/devices/push-to-start-token"
                #expect(try await client.call(.post, path, as: "ann", typed("phone", RegistryBench.startToken(1))).status == .ok)
                for answer in [
                    try await client.call(.post, "/devices", as: "bob", Self.device("bobs", RegistryBench.startToken(1))),
                    try await client.call(.post, path, as: "bob", typed("bobs", RegistryBench.token(1))),
                ] {
                    #expect(answer.status == .unprocessableContent && answer.string("code") == "token_kind_mixed_up")
                }
            }
            #expect(try await bench.count("deviceStartTokens") == 1)
            #expect(try await bench.pushTargets(of: ["bob"]).count == 1)
        }
    }

    @Test("DELETE with a push token, or its hash, ends that token's registration and leaves the start token; an unknown token is 404")
    func deleteByToken() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1, os: "18.2")
            try await bench.registerStart("ann", "phone", start: 1)
            let (token, hash) = (RegistryBench.token(1), try TokenHash.apns(RegistryBench.token(1)).rawValue)
            try await bench.withRoutes { client in
                #expect(try await client.call(.delete, "/devices/\(token)", as: "bob").status == .notFound)
                #expect(try await client.call(.delete, "/devices/\(RegistryBench.token(7))", as: "ann").status == .notFound)
                #expect(try await bench.pushTargets(of: ["ann"]).count == 1)
                #expect(try await client.call(.delete, "/devices/\(hash)", as: "ann").status == .noContent)
                #expect(try await bench.pushTargets(of: ["ann"]).isEmpty)
                try await bench.register("ann", "phone", token: 1, os: "18.2")
                #expect(try await client.call(.delete, "/devices/\(token)", as: "ann").status == .noContent)
                let device = try await client.call(.get, "/devices/phone", as: "ann")
                #expect(device.string("pushToken", "state") == "inactive" && device.string("pushToken", "cause") == "unregistered")
                #expect(device.string("pushToStartToken", "state") == "active")
            }
            #expect(try await bench.pushTargets(of: ["ann"]).isEmpty)
            #expect(try await bench.starts(of: ["ann"]).count == 1)
            #expect(bench.removals.all.isEmpty)
            let recorded = try await bench.attempts()
            #expect(recorded == ["register ann", "register ann", "register ann liveactivity", "unregister ann", "unregister ann"])
            try await bench.register("ann", "phone", token: 1)
            #expect(try await bench.pushTargets(of: ["ann"]).count == 1)
        }
    }

    @Test("the device's secret unregisters its token as well as its device")
    func secret() async throws {
        try await RegistryBench.with { bench in
            let secret = UnregisterSecret.generate()
            try await bench.register("ann", "phone", token: 1, secret: secret)
            try await bench.withRoutes { client in
                let unknown = try await client.call(.delete, "/devices/\(RegistryBench.token(2))", as: secret.text)
                #expect(unknown.status == .notFound)
                let known = try await client.call(.delete, "/devices/\(RegistryBench.token(1))", as: secret.text)
                #expect(known.status == .noContent)
            }
            #expect(try await bench.pushTargets(of: ["ann"]).isEmpty)
        }
    }

    @Test("another user who signs in on a device takes it over, also with another push token; the old row keeps no token")
    func takeOver() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1, os: "18.2")
            try await bench.registerStart("ann", "phone", start: 1)
            try await bench.register("bob", "phone", token: 2, os: "18.2")
            #expect(try await bench.device("ann", "phone")?.tokenStateCause == "moved")
            #expect(try await bench.count("devices WHERE pushToken IS NULL AND userId = 'ann'") == 1)
            #expect(try await bench.pushTargets(of: ["ann", "bob"]).map(\.userId) == ["bob"])
            #expect(bench.removals.all == [DeviceRemoval(userId: "ann", deviceId: "phone", cause: .moved)])
            // The system gave the phone another push token as bob signed in: his app posts the start token with it.
            #expect(try await bench.starts(of: ["ann", "bob"]).isEmpty)
            try await bench.registerStart("bob", "phone", start: 1)
            #expect(try await bench.starts(of: ["ann", "bob"]).map(\.userId) == ["bob"])
        }
    }

    @Test("who registers another user's deviceId with another push token gets no start token of that phone, nor the phone one of theirs")
    func foreignDeviceId() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            let typed = StartTokenRegistration(
                userId: "ann",
                deviceId: "phone",
                token: try PushToken(RegistryBench.startToken(2), provider: .apns),
                attributesType: "Pager"
            )
            _ = try await bench.store.register(typed, requestId: RegistryBench.requestId(), now: bench.clock.now)
            let taken = try await bench.register("eve", "phone", token: 2)
            #expect(taken.startToken == nil && taken.typedStartTokens.isEmpty)
            #expect(try await bench.count("deviceStartTokens") == 0)
            try await bench.registerStart("eve", "phone", start: 3)
            let back = try await bench.register("ann", "phone", token: 1)
            #expect(back.tokenState == .active && back.startToken?.state == .inactive)
            #expect(try await bench.starts(of: ["ann", "eve"]).isEmpty)
            try await bench.registerStart("ann", "phone", start: 1)
            #expect(try await bench.starts(of: ["ann", "eve"]).map(\.token.rawValue) == [RegistryBench.startToken(1)])
        }
    }

    @Test("a registration that is refused leaves a failed attempt with the problem's code")
    func refusedRegistration() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            try await bench.withRoutes { client in
                let body = Self.device("bobs", RegistryBench.startToken(1))
                let answer = try await client.call(.post, "/devices", as: "bob", body)
                #expect(answer.status == .unprocessableContent)
            }
            #expect(try await bench.refusals() == ["bob - failed token_invalid token_kind_mixed_up"])
        }
    }
}
