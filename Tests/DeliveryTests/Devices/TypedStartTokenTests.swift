import Delivery
import HTTPServer
import HTTPTypes
import HummingbirdTesting
import Postgres
import PushContract
import Testing

/// C-08: a start token is of one device and one attributes type.
@Suite("Start tokens by attributes type")
struct TypedStartTokenTests {
    private let path = "/devices/push-to-start-token"

    private func body(_ start: Int, _ type: String?) -> String {
        let named = type.map { #", "attributesType": "\#($0)""# } ?? ""
        return #"{"deviceId": "phone", "pushToStartToken": "\#(RegistryBench.startToken(start))"\#(named)}"#
    }

    @Test("C-08: each type has its own token; the one without a type serves those that have none, as apps of one type send it")
    func byType() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.withRoutes { client in
                #expect(try await client.call(.post, path, as: "ann", body(1, nil)).status == .ok)
                let answer = try await client.call(.post, path, as: "ann", body(2, "PagerActivityAttributes"))
                #expect(answer.status == .ok && answer.string("pushToStartToken", "state") == "active")
                #expect(answer.string("pushToStartTokens", "PagerActivityAttributes", "state") == "active")
                #expect(!answer.text.contains(RegistryBench.startToken(2)))
                let alias = #"{"liveActivityToken": "\#(RegistryBench.startToken(3))", "attributesType": "RideAttributes"}"#
                #expect(try await client.call(.put, "/api/users/live-activity-token", as: "ann", alias).status == .ok)
                let refused = try await client.call(.post, path, as: "ann", body(4, "not a type"))
                #expect(refused.status == .unprocessableContent && refused.string("pointer") == "/attributesType")
            }
            #expect(try await bench.starts("ann", "MatchActivityAttributes") == [RegistryBench.startToken(1)])
            #expect(try await bench.starts("ann", "PagerActivityAttributes") == [RegistryBench.startToken(2)])
            #expect(try await bench.starts("ann", "RideAttributes") == [RegistryBench.startToken(3)])
            #expect(try await bench.attempts().count == 4, "one for the device and one for each token")
        }
    }

    @Test(
        "a token that is deactivated, rotated or cleared leaves those of other types alone, and is not replaced by the one without a type"
    )
    func apart() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            try await bench.registerTyped("ann", "phone", start: 2, "Pager")
            try await bench.registerTyped("ann", "phone", start: 3, "Pager")
            #expect(try await bench.count("deviceStartTokens") == 1, "in place")
            let hash = try TokenHash.apns(RegistryBench.startToken(3))
            let feedback = TokenFeedback(
                verdict: .deactivate(goneAt: nil),
                tokenHash: hash,
                provider: .apns,
                app: "com.example.app",
                cause: "Unregistered",
                registrationVersion: nil,
                sentAt: bench.clock.now + .seconds(1)
            )
            let now = bench.clock.now
            #expect(try await bench.pool.performTransaction { try StartTokens.apply([feedback], on: $0, now: now) } == [0])
            #expect(try await bench.starts("ann", "Pager").isEmpty)
            #expect(try await bench.starts("ann", "Match") == [RegistryBench.startToken(1)])
            let device = try #require(try await bench.device("ann", "phone"))
            #expect(device.typedStartTokens.map(\.token.state) == [.inactive] && device.startToken?.state == .active)
            try await bench.registerTyped("ann", "phone", start: 4, "Pager")
            try await bench.registerTyped("ann", "phone", start: nil, "Pager")
            #expect(try await bench.count("deviceStartTokens") == 0)
            #expect(try await bench.starts("ann", "Pager") == [RegistryBench.startToken(1)])
        }
    }

    @Test("a token has one place: named later it leaves the untyped one, registered elsewhere it leaves its device")
    func onePlace() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerStart("ann", "phone", start: 1)
            try await bench.registerTyped("ann", "phone", start: 1, "Pager")
            #expect(try await bench.device("ann", "phone")?.startToken == nil)
            try await bench.register("bob", "other", token: 2)
            try await bench.registerTyped("bob", "other", start: 1, "Pager")
            #expect(try await bench.starts("ann", "Pager").isEmpty)
            #expect(try await bench.starts("bob", "Pager") == [RegistryBench.startToken(1)])
            try await bench.registerStart("bob", "other", start: 1)
            #expect(try await bench.count("deviceStartTokens") == 0)
            #expect(try await bench.starts("bob", "Pager") == [RegistryBench.startToken(1)])
        }
    }

    @Test("C-28: another user on the same device inherits them; sign-out removes them, each with its attempt")
    func moves() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("ann", "phone", token: 1)
            try await bench.registerTyped("ann", "phone", start: 1, "Pager")
            try await bench.registerTyped("ann", "phone", start: 2, "Ride")
            try await bench.register("bob", "phone", token: 1)
            #expect(try await bench.starts("ann", "Pager").isEmpty)
            #expect(try await bench.starts("bob", "Pager") == [RegistryBench.startToken(1)])
            #expect(try await bench.starts("bob", "Ride") == [RegistryBench.startToken(2)])
            let before = try await bench.attempts().count
            #expect(try await bench.store.unregister(userId: "bob", deviceId: "phone", requestId: "out", now: bench.clock.now))
            #expect(try await bench.count("deviceStartTokens") == 0)
            #expect(try await bench.attempts().count == before + 3)
        }
    }
}

extension RegistryBench {
    fileprivate func starts(_ userId: String, _ type: String) async throws -> [String] {
        try await StartTarget.all(of: [userId], type: type, in: pool, cipher: cipher, now: clock.now).map(\.token.rawValue)
    }

    @discardableResult
    fileprivate func registerTyped(_ userId: String, _ deviceId: String, start: Int?, _ type: String) async throws -> Device {
        let token = try start.map { try PushToken(Self.startToken($0), provider: .apns) }
        let registration = StartTokenRegistration(userId: userId, deviceId: deviceId, token: token, attributesType: type)
        return try await store.register(registration, requestId: Self.requestId(), now: clock.now)
    }
}
