import Alerting
import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("GET /alerts, acknowledgement, silences")
struct AlertRoutesTests {
    /// Everybody is let in with the scopes the header names.
    private struct ScopesByHeader: Authenticator {
        func authenticate(_ request: Request) async throws -> Caller? {
            guard let header = request.headers[.authorization] else { return nil }
            return .key(id: "1", name: "ada", scopes: Set(header.split(separator: " ").map { Scope(rawValue: String($0)) }))
        }
    }

    private func withRoutes(_ body: @Sendable (any TestClientProtocol, PostgresPool, ManualClock) async throws -> Void) async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            try await fireOnce(pool, receivers: [.log], clock: clock)
            let router = HTTPRouter(authentication: AuthenticationMiddleware(ScopesByHeader()))
            AlertRoutes(pool: pool, now: { clock.now }).add(to: router)
            try await Application(router: router).test(.router) { try await body($0, pool, clock) }
        }
    }

    private static let reading: HTTPFields = [.authorization: "alerts:read"]
    private static let writing: HTTPFields = [.authorization: "alerts:write", .contentType: "application/json"]

    private func json(_ response: TestResponse) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(Array(buffer: response.body))) as? [String: Any])
    }

    @Test("the list and the detail show the evidence, the SQL and the state of delivery")
    func show() async throws {
        try await withRoutes { client, pool, clock in
            let list = try json(try await client.execute(uri: "/alerts?state=firing", method: .get, headers: Self.reading))
            let alert = try #require((list["alerts"] as? [[String: Any]])?.first)
            #expect(alert["rule"] as? String == "ProviderUnavailable")
            #expect(alert["startsAt"] as? String == "2026-01-05T12:20:00Z")
            let id = try #require(alert["id"] as? String)
            let notifier = Notifier.forTest(pool, receivers: [.log], clock: clock) { _ in throw CancellationError() }
            try await notifier.deliverDue()
            let detail = try json(try await client.execute(uri: "/alerts/\(id)", method: .get, headers: Self.reading))
            #expect((detail["sql"] as? String)?.contains("FROM attemptRollups") == true)
            #expect((detail["receivers"] as? [[String: Any]])?.first?["state"] as? String == "delivered")
            #expect((detail["deliveries"] as? [[String: Any]])?.count == 1)
        }
    }

    @Test("acknowledging names the caller and keeps the first; a resolved alert is 409, an unknown one 404")
    func acknowledge() async throws {
        try await withRoutes { client, pool, _ in
            let alert = try #require(try await AlertStore.open(on: pool).first)
            let uri = "/alerts/\(alert.id.uuidString)/acknowledge"
            for _ in 1...2 {
                let answer = try await client.execute(uri: uri, method: .post, headers: Self.writing)
                #expect(answer.status == .ok)
                #expect(try json(answer)["acknowledgedBy"] as? String == "ada")
            }
            try await pool.execute("UPDATE alerts SET state = 'resolved', resolvedAt = firedAt")
            #expect(try await client.execute(uri: uri, method: .post, headers: Self.writing).status == .conflict)
            let unknown = "/alerts/\(UUID().uuidString)/acknowledge"
            #expect(try await client.execute(uri: unknown, method: .post, headers: Self.writing).status == .notFound)
        }
    }

    @Test("a silence is made, shown with what it matches, and ended")
    func silences() async throws {
        try await withRoutes { client, _, _ in
            let body = #"{"matchers":[{"name":"provider","value":"fcm"}],"endsAt":"2026-01-05T20:00:00Z","reason":"planned"}"#
            let made = try await client.execute(uri: "/silences", method: .post, headers: Self.writing, body: ByteBuffer(string: body))
            #expect(made.status == .created)
            #expect(try (json(made)["matches"] as? [String])?.count == 1)
            let silence = try #require(try json(made)["silence"] as? [String: Any])
            #expect(silence["author"] as? String == "ada")
            let id = try #require(silence["id"] as? String)
            func count() async throws -> Int? {
                (try json(try await client.execute(uri: "/silences", method: .get, headers: Self.reading))["silences"] as? [Any])?.count
            }
            #expect(try await count() == 1)
            #expect(try await client.execute(uri: "/silences/\(id)", method: .delete, headers: Self.writing).status == .noContent)
            #expect(try await count() == 0)
            #expect(try await client.execute(uri: "/silences/\(id)", method: .delete, headers: Self.writing).status == .notFound)
        }
    }

    @Test(
        "a silence that cannot be meant is refused with a pointer",
        arguments: [
            (#"{"matchers":[],"endsAt":"2026-01-05T20:00:00Z","reason":"r"}"#, "/matchers"),
            (#"{"matchers":[{"name":"a"}],"endsAt":"2026-01-05T20:00:00Z","reason":"r"}"#, "/matchers/0/value"),
            (#"{"matchers":[{"name":"a","value":"b"}],"endsAt":"2026-01-05T20:00:00","reason":"r"}"#, "/endsAt"),
            (#"{"matchers":[{"name":"a","value":"b"}],"endsAt":"2025-01-05T20:00:00Z","reason":"r"}"#, "/endsAt"),
            (#"{"matchers":[{"name":"a","value":"b"}],"endsAt":"2026-01-05T20:00:00Z","reason":" "}"#, "/reason"),
            (#"{"matchers":[{"name":"a","value":"b"}],"endsAt":"2026-01-05T20:00:00Z","reason":"r","x":1}"#, "/x"),
        ]
    )
    func refused(_ body: String, _ pointer: String) async throws {
        try await withRoutes { client, _, _ in
            let answer = try await client.execute(uri: "/silences", method: .post, headers: Self.writing, body: ByteBuffer(string: body))
            #expect(answer.status == .unprocessableContent)
            #expect(try json(answer)["pointer"] as? String == pointer)
        }
    }

    @Test("without the scope nothing is shown or changed")
    func scopes() async throws {
        try await withRoutes { client, _, _ async throws in
            #expect(try await client.execute(uri: "/alerts", method: .get).status == .unauthorized)
            #expect(try await client.execute(uri: "/alerts", method: .get, headers: Self.writing).status == .forbidden)
            #expect(try await client.execute(uri: "/silences", method: .post, headers: Self.reading).status == .forbidden)
            #expect(try await client.execute(uri: "/alerts?state=no", method: .get, headers: Self.reading).status == .badRequest)
        }
    }
}
