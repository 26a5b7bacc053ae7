import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Postgres
import Providers
import PushContract
import ServiceKit
import Testing

@testable import Delivery

/// A key that may write for `com.a` only. Devices: `ann` has one of each app, `bob` one of `com.b`.
@Suite("Keys that are limited to apps")
struct LimitedKeyTests {
    private func withRoutes(_ body: @Sendable (SendingBench, any TestClientProtocol) async throws -> Void) async throws {
        try await SendingBench.with { bench in
            let router = HTTPRouter(authentication: AuthenticationMiddleware(NamedCallers()))
            SendRoutes(store: bench.store, enqueueService: bench.enqueueService(), dryRun: bench.dryRun()).add(to: router)
            CircuitRoutes(store: bench.store, wake: WakeSignal()).add(to: router)
            ThrottleRoutes(store: bench.throttles).add(to: router)
            DeactivationLimiterRoutes(store: bench.store.deactivationLimiters).add(to: router)
            DeadLetterRoutes(store: bench.store, wake: WakeSignal()).add(to: router)
            AudienceRoutes(store: AudienceStore(pool: bench.pool)).add(to: router)
            try await bench.register("ann", "ann-a", token: SendingBench.token(1), app: "com.a")
            try await bench.register("ann", "ann-b", token: SendingBench.token(2), app: "com.b")
            try await bench.register("bob", "bob-b", token: SendingBench.token(3), app: "com.b")
            try await Application(router: router).test(.router) { client in try await body(bench, client) }
        }
    }

    @Test(
        "a send to another app's target is refused before anything is stored",
        arguments: [
            (#"{"uid": "bob"}"#, ""), (#"{"deviceId": "bob-b"}"#, ""), (#"{"uid": "ann", "app": "com.b"}"#, "/app"),
            (#"{"uids": ["bob"]}"#, ""), (#"{"deviceIds": ["bob-b", "ann-b"]}"#, ""), (#"{"audience": "fans", "app": "com.b"}"#, "/app"),
            (#"{"uid": "nobody", "app": "com.b"}"#, "/app"),
            (#"{"token": "TOKEN", "provider": "apns", "app": "com.b"}"#, "/app"),
            (#"{"tokens": ["TOKEN"], "provider": "apns", "app": "com.b"}"#, "/app"),
            (#"{"token": "TOKEN", "provider": "apns", "app": "com.a", "topic": "com.b"}"#, "/topic"),
            (#"{"uid": "ann", "app": "com.a", "topic": "com.b.voip", "pushType": "voip"}"#, "/topic"),
        ]
    )
    func refused(send: String, pointer: String) async throws {
        try await withRoutes { bench, client in
            let send = send.replacing("TOKEN", with: SendingBench.token(9))
            let answer = try await client.call("/sends", .post, as: "limited", send)
            #expect(answer.status == .forbidden && answer.text.contains(#""code":"app_not_allowed""#), "\(answer.text)")
            #expect(pointer.isEmpty || answer.text.contains(#""pointer":"\#(pointer)""#), "\(answer.text)")
            #expect(try await bench.count("pushSends") == 0)
        }
    }

    @Test("a topic may be of an app of the key", arguments: ["com.a", "com.a.voip", "com.a.push-type.widgets"])
    func topic(_ topic: String) async throws {
        try await withRoutes { bench, client in
            let answer = try await client.call("/sends", .post, as: "limited", #"{"uid": "ann", "topic": "\#(topic)", "title": "t"}"#)
            #expect(answer.status == .accepted, "\(answer.text)")
        }
    }

    @Test("of several targets those of another app are skipped, with the cause; an array refuses each send by itself")
    func skipped() async throws {
        try await withRoutes { bench, client in
            let audience = #"{"uids": ["ann", "bob"]}"#
            #expect(try await client.call("/audiences/fans", .put, as: "limited", audience).status == .forbidden)
            #expect(try await client.call("/audiences/fans", .put, as: "service", audience).status == .ok)
            for (number, (target, others)) in [
                (#""uid": "ann""#, 1), (#""uids": ["ann", "bob"]"#, 2), (#""audience": "fans""#, 2),
                (#""deviceIds": ["ann-a", "ann-b", "bob-b"]"#, 2),
            ].enumerated() {
                let answer = try await client.call("/sends", .post, as: "limited", "{\"sendId\": \"s\(number)\", \(target)}")
                #expect(answer.status == .accepted && answer.text.contains(#""deliveries":1"#), "\(answer.text)")
                #expect(answer.text.contains(#""code":"app_not_allowed","count":\#(others)"#), "\(answer.text)")
            }
            #expect(
                try await client.call("/sends", .post, as: "limited", #"{"sendId": "own", "uid": "ann", "app": "com.a"}"#).text.contains(
                    "skipped"
                ) == false
            )
            let mixed = try await client.call("/sends", .post, as: "limited", #"[{"deviceId": "ann-a"}, {"deviceId": "bob-b"}]"#)
            #expect(mixed.status.code == 207 && mixed.text.contains(#""accepted":1"#) && mixed.text.contains(#""invalid":1"#))
            #expect(try await bench.count("pushDeliveryStates WHERE app <> 'com.a'") == 0)
            #expect(try await bench.count("pushDeliveryStates WHERE app = 'com.a'") == 6)
            let all = try await client.call("/sends", .post, as: "service", #"{"sendId": "all", "audience": "fans"}"#)
            #expect(all.text.contains(#""deliveries":3"#), "a key without a limit: \(all.text)")
            #expect(try await client.call("/sends/all", .delete, as: "limited").status == .forbidden)
            #expect(try await client.call("/sends/own", .delete, as: "limited").status == .ok)
            #expect(try await bench.count("pushCancels") == 1)
        }
    }

    @Test("operations name one of the key's apps, by their field or by what they are about")
    func operations() async throws {
        try await withRoutes { bench, client in
            func status(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> Int {
                try await client.call(path, method, as: "limited", body).status.code
            }
            #expect(try await status(.put, "/sends/throttle", #"{"perMinute": 60, "reason": "x"}"#) == 403)
            #expect(try await status(.put, "/sends/throttle", #"{"perMinute": 60, "reason": "x", "app": "com.b"}"#) == 403)
            #expect(try await bench.throttles.current().isEmpty)
            #expect(try await status(.put, "/sends/throttle", #"{"perMinute": 60, "reason": "x", "app": "com.a"}"#) == 200)
            #expect(try await status(.delete, "/sends/throttle") == 403)
            #expect(try await status(.delete, "/sends/throttle?app=com.a") == 200)
            #expect(try await status(.post, "/sends/dead/retry", #"{"outcome": "failed"}"#) == 403)
            #expect(try await status(.post, "/sends/dead/retry", #"{"outcome": "failed", "app": "com.a"}"#) == 200)
            #expect(try await status(.delete, "/sends/pauses/fcm/com.b") == 403)
            #expect(try await status(.delete, "/sends/pauses/fcm/com.a") == 404, "allowed; there is none")
            for (number, app) in ["com.a", "com.b"].enumerated() {
                try await bench.pool.execute(
                    """
                    INSERT INTO pushCircuits (kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt,
                        refusals, nextProbeAt)
                    VALUES ('refused', 'apns', \(app), 'production', '', '', 'k', 'InvalidProviderToken', now(), now(), 1, now())
                    """
                )
                try await bench.pool.execute(
                    """
                    INSERT INTO deactivationLimiters (provider, app, environment, credential, openedAt, windowFrom, total, ambiguous, gone, cause)
                    VALUES ('apns', \(app), 'production', 'k', now(), now(), 10, 10, 0, 'BadDeviceToken')
                    """
                )
                let expected = number == 0 ? 200 : 403
                #expect(try await status(.delete, "/sends/circuits/\(number + 1)") == expected, "\(app)")
                #expect(try await status(.post, "/sends/deactivation-limiters/\(number + 1)/undo") == expected, "\(app)")
            }
            #expect(try await bench.store.circuits().map(\.scope.app) == ["com.b"])
            #expect(try await bench.store.deactivationLimiters.open().map(\.scope.app) == ["com.b"])
        }
    }
}
