import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("What is asked of reported attempts")
struct ReportRulesTests {
    /// The route, for whom the `Authorization` header names.
    private func withRoute(_ body: @escaping @Sendable (any TestClientProtocol, PostgresPool) async throws -> Void) async throws {
        try await withDatabase { pool in
            let maintenance = PartitionMaintenance(pool: pool, logger: .silent)
            try await maintenance.maintain()
            let ingestor = AttemptIngestor(pool: pool, maintenance: maintenance, logger: .silent)
            let router = HTTPRouter(authentication: AuthenticationMiddleware(NamedReporters()))
            // Reports are answered though nothing can be read for others.
            AttemptRoutes(ingestor: ingestor, store: AttemptStore(NoReaders()), checkStore: AttemptStore(pool)).add(to: router)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await ingestor.run() }
                try await Application(router: router).test(.router) { try await body($0, pool) }
                group.cancelAll()
                try? await group.waitForAll()
            }
        }
    }

    private static func report(
        _ id: String,
        _ code: String,
        _ reason: ReasonCode,
        provider: Provider = .apns,
        changes: [String: Any?] = [:]
    ) throws -> ByteBuffer {
        var values: [String: Any?] = [
            "status": "failed", "providerErrorCode": code, "reasonCode": reason.rawValue, "provider": provider.rawValue,
            "platform": provider == .apns ? "ios" : "android",
        ]
        values.merge(changes) { $1 }
        return ByteBuffer(bytes: try Sample.bytes(Sample.json(values, id: id, at: .now())))
    }

    private static func post(_ client: any TestClientProtocol, as caller: String, _ body: ByteBuffer) async throws -> TestResponse {
        try await client.execute(
            uri: "/attempts",
            method: .post,
            headers: [.contentType: "application/json", .authorization: caller],
            body: body
        )
    }

    @Test("an app that Unicode takes for one of the key's apps is another one")
    func equivalentApp() throws {
        let rules = ReportRules(apps: .only(["K"]))
        func check(_ app: String) throws {
            var app = app
            try app.withUTF8 { try rules.check(app: .text($0)) }
        }
        try check("K")
        // U+212A, the Kelvin sign, is canonically equivalent to K.
        #expect(throws: AttemptFault.self) { try check("\u{212A}") }
    }

    @Test("a reported code that the mapping knows carries its bucket: otherwise 422 with the right one")
    func mapping() async throws {
        try await withRoute { client, _ in
            for (number, (code, reason, provider, right)) in [
                ("BadDeviceToken", ReasonCode.provider5xx, Provider.apns, "token_invalid"),
                ("messaging/registration-token-not-registered", .unknown, .fcm, "token_not_registered"),
                ("UNAVAILABLE", .network, .fcm, "provider_5xx"),
            ].enumerated() {
                let answer = try await Self.post(client, as: "service", try Self.report("a\(number)", code, reason, provider: provider))
                let text = String(buffer: answer.body)
                #expect(answer.status == .unprocessableContent && text.contains("reason_code_mismatch"))
                #expect(text.contains("`\(right)`") && text.contains("/reasonCode"))
            }
            for (number, (code, reason, provider)) in [
                ("BadDeviceToken", ReasonCode.tokenInvalid, Provider.apns), ("INVALID_ARGUMENT", .tokenInvalid, .fcm),
                ("INVALID_ARGUMENT", .unknown, .fcm), ("a code of the sender's own", .network, .fcm), ("UNREGISTERED", .network, .apns),
            ].enumerated() {
                let body = try Self.report("b\(number)", code, reason, provider: provider)
                #expect(try await Self.post(client, as: "service", body).status == .created, "\(code)")
            }
        }
    }

    @Test("a key with attempts:normalize has the bucket corrected, and the answer says so")
    func normalize() async throws {
        try await withRoute { client, pool in
            let answer = try await Self.post(client, as: "normalizing", try Self.report("a", "BadDeviceToken", .provider5xx))
            #expect(answer.status == .created)
            let corrected = #""corrected":{"field":"reasonCode","reported":"provider_5xx","stored":"token_invalid"}"#
            #expect(String(buffer: answer.body).contains(corrected))
            let item = String(buffer: try Self.report("b", "Unregistered", .unknown))
            let fine = String(buffer: try Self.report("c", "Unregistered", .tokenNotRegistered))
            let batch = try await Self.post(client, as: "normalizing", ByteBuffer(string: "[\(fine), \(item)]"))
            let text = String(buffer: batch.body)
            #expect(batch.status == .ok && text.contains(#""accepted":2"#) && text.contains(#""index":1"#) && !text.contains(#""index":0"#))
            let stored = try await pool.query("SELECT reasonCode::text FROM notificationDeliveryAttempts ORDER BY attemptId")
            #expect(try stored.map { try $0.decode(String.self) } == ["token_invalid", "token_not_registered", "token_not_registered"])
        }
    }

    @Test("a key that is limited to an app reports its attempts; those of another app, or of none, are refused one by one")
    func limited() async throws {
        try await withRoute { client, pool in
            func report(_ id: String, app: String?) throws -> ByteBuffer {
                try Self.report(id, "Unregistered", .tokenNotRegistered, changes: ["app": app])
            }
            #expect(try await Self.post(client, as: "limited", try report("own", app: "com.a")).status == .created)
            for app in ["com.b", "com.a.b", "", nil] {
                let answer = try await Self.post(client, as: "limited", try report("x", app: app))
                #expect(answer.status == .unprocessableContent, "\(app ?? "no app")")
                guard app != "" else { continue }
                let text = String(buffer: answer.body)
                #expect(
                    text.contains(#""code":"app_not_allowed""#) && text.contains("may write for `com.a` only")
                        && text.contains(#""pointer":"/app""#)
                )
            }
            let mixed = try [("one", "com.a"), ("two", "com.b"), ("three", "com.a")].map { String(buffer: try report($0.0, app: $0.1)) }
            let batch = try await Self.post(client, as: "limited", ByteBuffer(string: "[\(mixed.joined(separator: ","))]"))
            let text = String(buffer: batch.body)
            #expect(batch.status.code == 207 && text.contains(#""accepted":2"#) && text.contains(#""rejected":1"#))
            #expect(text.contains(#""pointer":"/1/app""#))
            #expect(try await Self.post(client, as: "service", try report("any", app: "com.b")).status == .created)
            let stored = try await pool.query("SELECT attemptId FROM notificationDeliveryAttempts ORDER BY attemptId")
            #expect(try stored.map { try $0.decode(String.self) } == ["any", "one", "own", "three"])
        }
    }

    @Test("a limited key cannot take over another app's attempt by its id: neither advance it nor see what is stored")
    func takeover() async throws {
        try await withRoute { client, pool in
            func report(_ id: String, app: String?, status: String) throws -> ByteBuffer {
                let code = status == "queued" ? nil : "Unregistered"
                let changes: [String: Any?] = [
                    "app": app, "status": status, "providerErrorCode": code,
                    "reasonCode": status == "queued" ? nil : ReasonCode.tokenNotRegistered.rawValue,
                ]
                return try Self.report(id, "", .network, changes: changes)
            }
            for (id, app) in [("b", "com.b"), ("none", nil), ("a", "com.a")] {
                #expect(try await Self.post(client, as: "service", try report(id, app: app, status: "queued")).status == .created)
            }
            for id in ["b", "none"] {
                let answer = try await Self.post(client, as: "limited", try report(id, app: "com.a", status: "failed"))
                let text = String(buffer: answer.body)
                #expect(answer.status == .unprocessableContent && text.contains(#""code":"app_not_allowed""#), "\(text)")
                #expect(!text.contains("stored") && text.contains(#""pointer":"/attemptId""#))
            }
            let batch = try ["b", "a", "new"].map { String(buffer: try report($0, app: "com.a", status: "failed")) }.joined(separator: ",")
            let mixed = String(buffer: try await Self.post(client, as: "limited", ByteBuffer(string: "[\(batch)]")).body)
            #expect(mixed.contains(#""accepted":1,"advanced":1"#) && mixed.contains(#""rejected":1"#), "\(mixed)")
            #expect(mixed.contains(#""pointer":"/0/attemptId""#) && mixed.contains(#""attemptId":"a","index":1"#), "\(mixed)")
            let stored = try await pool.query("SELECT attemptId || ' ' || status FROM notificationDeliveryAttempts ORDER BY attemptId")
            #expect(try stored.map { try $0.decode(String.self) } == ["a failed", "b queued", "new failed", "none queued"])
        }
    }

    @Test("an app's user reports registrations of their own uid, and nothing else")
    func users() async throws {
        try await withRoute { client, pool in
            func report(_ id: String, _ changes: [String: Any?]) throws -> ByteBuffer {
                try Self.report(id, "offline", .network, changes: changes)
            }
            for event in ["register", "unregister"] {
                let body = try report(event, ["eventType": event, "uid": "ann"])
                #expect(try await Self.post(client, as: "ann", body).status == .created)
            }
            for (changes, pointer) in [
                (["eventType": "register", "uid": "bob"], "/uid"), (["eventType": "send", "uid": "ann"], "/eventType"),
            ] {
                let answer = try await Self.post(client, as: "ann", try report("x", changes))
                #expect(answer.status == .unprocessableContent && String(buffer: answer.body).contains(#""pointer":"\#(pointer)""#))
            }
            let queued = try Self.report(
                "queued",
                "",
                .network,
                changes: ["eventType": "register", "uid": "ann", "status": "queued", "reasonCode": nil, "providerErrorCode": nil]
            )
            #expect(try await Self.post(client, as: "ann", queued).status == .created)
            let rows = try await pool.query("SELECT DISTINCT uid FROM notificationDeliveryAttempts")
            #expect(try rows.map { try $0.decode(String.self) } == ["ann"])
            let read = try await client.execute(uri: "/attempts?uid=ann", method: .get, headers: [.authorization: "ann"])
            #expect(read.status == .forbidden)
        }
    }

    @Test("an app's user who reports under the id of another person's attempt gets a conflict without that attempt; their own they see")
    func conflictsOfUsers() async throws {
        try await withRoute { client, _ in
            func report(_ id: String, uid: String, requestId: String = "r-1") throws -> ByteBuffer {
                let changes: [String: Any?] = ["eventType": "register", "uid": uid, "requestId": requestId]
                return try Self.report(id, "offline", .network, changes: changes)
            }
            for uid in ["u-1", "u-2"] {
                #expect(try await Self.post(client, as: "service", try report("of-\(uid)", uid: uid)).status == .created)
            }
            let others = try report("of-u-1", uid: "u-2", requestId: "r-2")
            let own = try report("of-u-2", uid: "u-2", requestId: "r-2")
            let batch = ByteBuffer(string: "[\(String(buffer: others)), \(String(buffer: own))]")
            for (body, status) in [(others, HTTPResponse.Status.conflict), (batch, .init(code: 207))] {
                let answer = try await Self.post(client, as: "u-2", body)
                let text = String(buffer: answer.body)
                #expect(answer.status.code == status.code && text.contains(#""code":"attempt_conflict""#), "\(text)")
                #expect(!text.contains(#""u-1""#), "\(text)")
                // Of the batch their own.
                #expect(text.contains(#""stored":"#) == (body == batch), "\(text)")
            }
            let service = try await Self.post(client, as: "service", others)
            #expect(service.status == .conflict && String(buffer: service.body).contains(#""uid":"u-1""#))
        }
    }
}

private struct NoReaders: PostgresSession {
    func query(_ query: Query) async throws -> [Row] { throw PostgresError(.callTimeout, "no connection is free") }
    func execute(_ query: Query) async throws -> Int { throw PostgresError(.callTimeout, "no connection is free") }
}

private struct NamedReporters: Authenticator {
    func authenticate(_ request: Request) async throws -> Caller? {
        switch request.headers[.authorization] {
        case nil: nil
        case "service": .key(id: "k", name: "service", scopes: Set(Scope.allScopes))
        case "limited": .key(id: "l", name: "limited", scopes: [.attemptsWrite], apps: .only(["com.a"]))
        case "normalizing": .key(id: "n", name: "normalizing", scopes: [.attemptsWrite, .attemptsNormalize])
        case let name?: .user(userId: name)
        }
    }
}
