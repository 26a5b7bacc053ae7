import AlertRules
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

@Suite("Accepting a new normal, from the route to the receivers")
struct AcceptanceTests {
    private static let receivers = [ReceiverConfiguration.log]

    /// `firing condition_met @34`: what was recorded, minutes after the start of the traffic.
    private func transitions(_ pool: PostgresPool) async throws -> [String] {
        try await pool.query("SELECT kind, reason, minute FROM alertTransitions ORDER BY minute, seq").map { row in
            let (kind, reason, minute) = try row.decode((String, String, Timestamp).self)
            return "\(kind) \(reason) @\(Minute(minute) - Traffic.start)"
        }
    }

    private func backtest(_ pool: PostgresPool, through last: Int) async throws -> [String] {
        let span = BacktestSpan(since: Traffic.start, last: Traffic.start + last)
        return try await RuleBacktest(span: span, on: pool).run(Spike.rule).alerts.flatMap { [$0.fired, $0.resolved].compactMap { $0 } }
            .sorted { $0.minute < $1.minute }
            .map { "\($0.kind == .fired ? "firing" : "resolved") \($0.reason.rawValue) @\($0.minute - Traffic.start)" }
    }

    /// An alert of the rise to 8 % at minute 0, which is evaluated through `minute`.
    private func withFiring(
        _ rises: [(from: Int, bad: Int)] = [(0, 8)],
        minutes: Int = 400,
        _ body: @Sendable (PostgresPool, RuleEvaluator, ManualClock) async throws -> Void
    ) async throws {
        try await withDatabase { pool in
            try await Spike.fill(pool, rises, minutes: minutes)
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, [Spike.rule], receivers: Self.receivers, clock: clock)
            try await evaluate(evaluator, clock, [0, 5, 10, 15, 20, 25, 30, 35, 40, 42])
            try #require(try await AlertStore.open(on: pool).count == 1)
            try await body(pool, evaluator, clock)
        }
    }

    private func evaluate(_ evaluator: RuleEvaluator, _ clock: ManualClock, _ minutes: [Int]) async throws {
        for minute in minutes {
            clock.set((Traffic.start + minute).timestamp + .seconds(60))
            try await evaluator.evaluate(minutes: minute)
        }
    }

    @Test(
        "the alert ends with the next minute, its receivers learn by whom and why; the level fires no more, a rise does; a backtest agrees"
    )
    func accepts() async throws {
        try await withFiring([(0, 8), (200, 60)]) { pool, evaluator, clock in
            let alert = try #require(try await AlertStore.open(on: pool).first)
            let accepted = try #require(
                try await AcceptanceStore.accept(alert, reason: "release 4.2", recording: .test("maria", at: clock.now), on: pool)
            )
            #expect(accepted.effectiveFrom == nil)
            // 43 is no minute at which the rule decides; nobody waits for the 45th.
            try await evaluate(evaluator, clock, [43])
            let over = try #require(try await AlertStore.resolved(limit: 1, on: pool).first)
            #expect(over.resolvedReason == "accepted" && over.annotations["accepted"] == "by maria: release 4.2")
            let stored = try #require(try await AcceptanceStore.current(of: alert.id, on: pool))
            #expect(stored.effectiveFrom == (Traffic.start + 42).timestamp)
            #expect(
                try await pool.query("SELECT kind FROM notifications ORDER BY seq").map { try $0.decode(String.self) } == [
                    "firing", "resolved",
                ]
            )
            // Level 8 % for two and a half hours more, then 60 %.
            try await evaluate(evaluator, clock, Array(44...199) + [205, 210, 220, 240])
            let recorded = try await transitions(pool)
            #expect(recorded.count == 3 && recorded[1] == "resolved accepted @42", "\(recorded)")
            let again = try #require(recorded.last)
            #expect(again.hasPrefix("firing condition_met @") && (Int(again.split(separator: "@")[1]) ?? 0) >= 204, "\(recorded)")
            #expect(evaluator.faults == [:])
            #expect(try await backtest(pool, through: 239) == recorded)
            // A new process, which has the database alone, has the same result.
            try await expireLeases("evaluator", on: pool)
            let second = RuleEvaluator.forTest(pool, [Spike.rule], receivers: Self.receivers, clock: clock)
            try await evaluate(second, clock, [245, 250])
            #expect(try await transitions(pool) == recorded)
        }
    }

    @Test("taken back, the alert fires again; a backtest agrees on both minutes")
    func undone() async throws {
        try await withFiring { pool, evaluator, clock in
            let alert = try #require(try await AlertStore.open(on: pool).first)
            let made = try await AcceptanceStore.accept(alert, reason: "r", recording: .test("maria", at: clock.now), on: pool)
            let accepted = try #require(made)
            try await evaluate(evaluator, clock, [43, 50, 60])
            #expect(try await AlertStore.open(on: pool) == [])
            let undone = try #require(try await AcceptanceStore.undo(accepted.id, recording: .test("ben", at: clock.now), on: pool))
            #expect(undone.undoneBy == "ben")
            #expect(try await AcceptanceStore.undo(accepted.id, recording: .test("ben", at: clock.now), on: pool) == nil)
            try await evaluate(evaluator, clock, [65, 70, 75])
            let recorded = try await transitions(pool)
            #expect(
                recorded.map { $0.prefix { $0 != "@" } } == ["firing condition_met ", "resolved accepted ", "firing condition_met "],
                "\(recorded)"
            )
            #expect(try await backtest(pool, through: 74) == recorded)
            // An alert may be accepted anew after that.
            let next = try #require(try await AlertStore.open(on: pool).first)
            #expect(try await AcceptanceStore.accept(next, reason: "r", recording: .test("ben", at: clock.now), on: pool) != nil)
        }
    }

    @Test("one that ended a moment ago is accepted at its worst: it does not come again")
    func justResolved() async throws {
        // Up at 0, down at 100, up again at 200.
        try await withFiring([(0, 8), (100, 1), (200, 8)]) { pool, evaluator, clock in
            try await evaluate(evaluator, clock, Array(stride(from: 45, through: 190, by: 5)))
            let alert = try #require(try await AlertStore.resolved(limit: 1, on: pool).first)
            #expect(alert.resolvedReason == "recovered" && alert.isAcceptable(at: clock.now))
            #expect(!alert.isAcceptable(at: clock.now + .seconds(2 * 86_400)))
            _ = try await AcceptanceStore.accept(alert, reason: "r", recording: .test("maria", at: clock.now), on: pool)
            try await evaluate(evaluator, clock, Array(stride(from: 191, through: 390, by: 5)))
            #expect(try await transitions(pool).count == 2)
            #expect(try await AcceptanceStore.current(of: alert.id, on: pool)?.effectiveFrom != nil)
        }
    }

    @Test("another group and another rule know nothing of it; a rule that counts something else neither")
    func others() async throws {
        try await withFiring { pool, evaluator, clock in
            let alert = try #require(try await AlertStore.open(on: pool).first)
            _ = try await AcceptanceStore.accept(alert, reason: "r", recording: .test("maria", at: clock.now), on: pool)
            try await evaluate(evaluator, clock, [43])
            var condition = BaselineCondition(reasons: ["token_not_registered", "token_invalid"], above: Fraction(3, 1), version: .one)
            condition.reference = RuleDuration(minutes: 3 * 1440)
            condition.longerWindows = []
            let wider = Rules.make("TokenNotRegisteredSpike", .baseline(condition), by: [.provider])
            let changed = RuleEvaluator.forTest(pool, [wider], receivers: Self.receivers, clock: clock)
            try await expireLeases("evaluator", on: pool)
            try await evaluate(changed, clock, [60])
            #expect(try await AlertStore.open(on: pool).count == 1, "what was accepted are failures of one reason")
        }
    }

    /// Everybody is let in with the scopes the header names.
    private struct ScopesByHeader: Authenticator {
        func authenticate(_ request: Request) async throws -> Caller? {
            guard let header = request.headers[.authorization] else { return nil }
            return .key(id: "1", name: "ada", scopes: Set(header.split(separator: " ").map { Scope(rawValue: String($0)) }))
        }
    }

    private static let reading: HTTPFields = [.authorization: "alerts:read"]
    private static let writing: HTTPFields = [.authorization: "alerts:write", .contentType: "application/json"]

    @Test(
        "by the routes: accepted once, listed, taken back; an alert of a share, an old one and an unknown one are refused with their reason"
    )
    func routes() async throws {
        try await withFiring { pool, evaluator, clock in
            let router = HTTPRouter(authentication: AuthenticationMiddleware(ScopesByHeader()))
            AlertRoutes(pool: pool, now: { clock.now }).add(to: router)
            let id = try #require(try await AlertStore.open(on: pool).first?.id)
            try await Application(router: router).test(.router) { client in
                func call(
                    _ method: HTTPRequest.Method,
                    _ uri: String,
                    _ body: String = "",
                    _ headers: HTTPFields = Self.writing
                ) async throws
                    -> (status: Int, json: [String: Any])
                {
                    let answer = try await client.execute(uri: uri, method: method, headers: headers, body: ByteBuffer(string: body))
                    let json = try? JSONSerialization.jsonObject(with: Data(Array(buffer: answer.body))) as? [String: Any]
                    return (answer.status.code, json ?? [:])
                }
                let uri = "/alerts/\(id.uuidString.lowercased())/accept"
                for body in ["{}", #"{"reason":" "}"#, #"{"reason":"r","x":1}"#] { #expect(try await call(.post, uri, body).status == 422) }
                #expect(try await call(.post, uri, #"{"reason":"r"}"#, Self.reading).status == 403)
                let made = try await call(.post, uri, #"{"reason":"release 4.2"}"#)
                #expect(made.status == 201 && made.json["author"] as? String == "ada" && made.json["effectiveFrom"] == nil)
                let again = try await call(.post, uri, #"{"reason":"other"}"#)
                #expect(again.status == 200 && again.json["reason"] as? String == "release 4.2")
                try await evaluate(evaluator, clock, [43])
                let list = try await call(.get, "/acceptances", "", Self.reading).json["acceptances"] as? [[String: Any]]
                #expect(list?.count == 1 && list?.first?["effectiveFrom"] as? String == "2026-01-05T12:42:00Z")
                let acceptance = try #require(made.json["id"] as? String)
                #expect(try await call(.delete, "/acceptances/\(acceptance)").status == 204)
                #expect(try await call(.delete, "/acceptances/\(acceptance)").status == 404)
                #expect(try await call(.post, "/alerts/\(UUID().uuidString)/accept", #"{"reason":"r"}"#).status == 404)
                clock.advance(.seconds(2 * 86_400))
                #expect(try await call(.post, uri, #"{"reason":"r"}"#).json["code"] as? String == "ended_long_ago")
                try await pool.execute("UPDATE alerts SET evidence = jsonb_set(evidence, '{definition}', '\"ratio/1\"')")
                let share = try await call(.post, uri, #"{"reason":"r"}"#)
                #expect(share.status == 409 && share.json["code"] as? String == "not_a_baseline")
            }
        }
    }
}
