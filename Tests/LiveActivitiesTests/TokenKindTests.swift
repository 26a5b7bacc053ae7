import Delivery
import HTTPServer
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Postgres
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("Kinds of token and Live Activities")
struct TokenKindTests {
    @Test("an activity token that is a push or start token is 422, and a push token that is an active update token")
    func mixedUp() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            for token in [LiveBench.token(1), LiveBench.startToken(1)] {
                let body = #"{"deviceId": "phone", "updateToken": "\#(token)"}"#
                let answer = try await routes.call("/matches/m1/activity-token", .post, as: "ann", body)
                #expect(answer.status == .unprocessableContent)
                #expect(String(buffer: answer.body).contains("token_kind_mixed_up"))
            }
            #expect(try await bench.history().latest?.tokenHash == TokenHash.apns(LiveBench.updateToken(1)))
            let problem = await #expect(throws: (any Error).self) {
                try await BenchParts.register("bob", "bobs", token: LiveBench.updateToken(1), bench)
            }
            #expect(problem.map { "\($0)".contains("token_kind_mixed_up") } == true)
        }
    }

    @Test("a start token that is an active update token is 422, of a named type too, and so is a send that names one")
    func updateToken() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            try await bench.phone("bob", "bobs", 2)
            let token = LiveBench.updateToken(1)
            for type in [nil, "PagerActivityAttributes"] {
                let registration = StartTokenRegistration(
                    userId: "bob",
                    deviceId: "bobs",
                    token: try PushToken(token, provider: .apns),
                    attributesType: type
                )
                let problem = await #expect(throws: Problem.self) {
                    try await bench.devices.register(registration, requestId: "s-\(type ?? "")", now: bench.now)
                }
                #expect(problem?.code == "token_kind_mixed_up" && problem?.pointer == "/pushToStartToken")
            }
            let request = try JSONParser.parse(
                Array(#"{"sendId": "s1", "token": "\#(token)", "provider": "apns", "app": "com.example.app", "title": "a"}"#.utf8)
            )
            let receipts = try await bench.instance.sends.enqueue(
                [try SendRequest(request, now: bench.now)],
                requestId: "s1",
                author: "test",
                now: bench.now,
                check: SendValidation.checker { _, _, _ in bench.apns }
            )
            guard case .refused(let problem)? = receipts.first else {
                Issue.record("accepted")
                return
            }
            #expect(problem.code == "token_kind_mixed_up")
            #expect(try await bench.states("ann", "phone") == ["active"])
        }
    }

    @Test("one 410 for a push token in mid-match: unregistering that token leaves the card, its updates and the start token")
    func goneInMidMatch() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running("ann", "phone", 1)
            bench.apns.forget()
            let hash = try TokenHash.apns(LiveBench.token(1))
            #expect(try await bench.devices.unregister(tokens: [hash], of: .user("ann"), requestId: "gone", now: bench.now))
            try await bench.score(runs: 2)
            try await bench.run()
            #expect(bench.apns.calls.map(\.token) == [LiveBench.updateToken(1)])
            #expect(try await bench.states("ann", "phone") == ["active"])
            try await bench.follow("ann", "m2")
            try await bench.score("m2", runs: 1)
            try await bench.run()
            #expect(bench.apns.calls("start").map(\.token) == [LiveBench.startToken(1)])
        }
    }

    @Test("the last device that signs out takes its user's follows along; of a user with another device they stay")
    func signOut() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.phone("ann", "tablet", 2)
            try await bench.follow("ann")
            _ = try await bench.devices.unregister(userId: "ann", deviceId: "phone", requestId: "out", now: bench.now)
            #expect(try await bench.follows.follows(of: "ann", now: bench.now) == ["m1"])
            _ = try await bench.devices.unregister(userId: "ann", deviceId: "tablet", requestId: "out", now: bench.now)
            #expect(try await bench.follows.follows(of: "ann", now: bench.now).isEmpty)
        }
    }

    @Test("the row of an app that was installed anew is no further device: a sign-out takes the follows along")
    func installedAnew() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "before", 1, startToken: false)
            try await bench.phone("ann", "after", 1, startToken: false)
            try await bench.follow("ann")
            #expect(try await bench.devices.unregister(userId: "ann", deviceId: "after", requestId: "out", now: bench.now))
            #expect(try await bench.devices.device(userId: "ann", deviceId: "before", now: bench.now) != nil)
            #expect(try await bench.follows.follows(of: "ann", now: bench.now).isEmpty)
        }
    }

    @Test("who wants no pushes on their only device keeps their follows")
    func pushDisabled() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            _ = try await bench.devices.unregister(
                userId: "ann",
                deviceId: "phone",
                cause: .pushDisabled,
                requestId: "off",
                now: bench.now
            )
            #expect(try await bench.devices.device(userId: "ann", deviceId: "phone", now: bench.now) == nil)
            #expect(try await bench.follows.follows(of: "ann", now: bench.now) == ["m1"])
        }
    }
}

extension BenchParts {
    fileprivate static func register(_ userId: String, _ deviceId: String, token: String, _ bench: LiveBench) async throws {
        let registration = DeviceRegistration(
            userId: userId,
            deviceId: deviceId,
            token: try PushToken(token, provider: .apns),
            platform: .ios,
            provider: .apns,
            app: "com.example.app"
        )
        _ = try await bench.devices.register(registration, requestId: "r-\(userId)", now: bench.now)
    }
}
