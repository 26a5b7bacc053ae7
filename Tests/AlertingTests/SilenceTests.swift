import AlertRules
import Alerting
import Foundation
import HTTPServer
import Postgres
import PushContract
import TestDatabase
import Testing

@Suite("Silences")
struct SilenceTests {
    private func silence(_ pool: PostgresPool, until minutes: Int, value: String = "fcm") async throws -> AlertSilence {
        let silence = AlertSilence(
            matchers: [SilenceMatcher(name: "rule", value: "ProviderUnavailable"), SilenceMatcher(name: "provider", value: value)],
            startsAt: Traffic.start.timestamp,
            endsAt: (Traffic.start + minutes).timestamp,
            author: "ada",
            reason: "planned work at the provider",
            createdAt: Traffic.start.timestamp
        )
        try await SilenceStore.insert(silence, recording: .test(), on: pool)
        return silence
    }

    @Test("a silenced alert is recorded and not delivered; when the silence ends it is delivered if it still fires")
    func expires() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 0)
            try await traffic.add(20..<70, attempts: 100, bad: 10)
            let silence = try await silence(pool, until: 50)
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            for minute in 30...49 {
                clock.set((Traffic.start + minute).timestamp)
                try await evaluator.evaluate(minutes: minute)
            }
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.silencedBy == silence.id)
            #expect(try await Recorded.outbox(pool) == [])
            for minute in 50...52 {
                clock.set((Traffic.start + minute).timestamp)
                try await evaluator.evaluate(minutes: minute)
            }
            #expect(try await Recorded.outbox(pool).map(\.kind) == ["firing"])
            #expect(try await AlertStore.open(on: pool).first?.silencedBy == nil)
        }
    }

    @Test("between two decisions of a rule its alerts are silenced, too, and notified when the silence ends")
    func betweenDecisions() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 0)
            try await traffic.add(20..<50, attempts: 100, bad: 10)
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            for minute in 30...35 {
                clock.set((Traffic.start + minute).timestamp)
                try await evaluator.evaluate(minutes: minute)
            }
            let silence = try await silence(pool, until: 50)
            clock.set((Traffic.start + 36).timestamp)
            try await evaluator.evaluate(minutes: 35)
            #expect(try await AlertStore.open(on: pool).first?.silencedBy == silence.id)
            let notifier = Notifier.forTest(pool, receivers: [.log], clock: clock) { _ in throw CancellationError() }
            #expect(try await notifier.deliverDue() == 0)
            clock.set((Traffic.start + 51).timestamp)
            try await evaluator.evaluate(minutes: 35)
            #expect(try await AlertStore.open(on: pool).first.map { $0.silencedBy == nil } == true)
        }
    }

    @Test("alerts of a rule that cannot be evaluated are silenced, too, and notified when the silence ends")
    func failingRule() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 0)
            try await traffic.add(20..<50, attempts: 100, bad: 10)
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            try await evaluator.evaluate(minutes: 30...35)
            try await breakCheckpoint(of: "ProviderUnavailable", pool)
            let silence = try await silence(pool, until: 37)
            try await evaluator.evaluate(minutes: 36)
            #expect(evaluator.faults.count == 1)
            #expect(try await AlertStore.open(on: pool).first?.silencedBy == silence.id)
            clock.set((Traffic.start + 38).timestamp)
            try await evaluator.evaluate(minutes: 37)
            #expect(evaluator.faults.count == 1)
            #expect(try await AlertStore.open(on: pool).map(\.silencedBy) == [nil])
        }
    }

    @Test("no receiver is notified of an alert that came and went under a silence; of one that the silence does not match they are")
    func matches() async throws {
        for (value, kinds) in [("fcm", []), ("apns", ["firing", "resolved"])] {
            try await withDatabase { pool in
                _ = try await silence(pool, until: 600, value: value)
                try await fireOnce(pool, receivers: [.log], clock: ManualClock(), resolved: true)
                #expect(try await Recorded.transitions(pool).map(\.kind) == ["firing", "resolved"])
                #expect(try await Recorded.outbox(pool).map(\.kind) == kinds)
            }
        }
    }

    @Test("an alert that is silenced before it was delivered waits, and no receiver is notified of it if it ends meanwhile")
    func silencedWhilePending() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 0)
            try await traffic.add(20..<50, attempts: 100, bad: 10)
            try await traffic.add(50..<80, attempts: 100, bad: 0)
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            try await evaluator.evaluate(minutes: 30...35)
            #expect(try await Recorded.outbox(pool).map(\.kind) == ["firing"])
            _ = try await silence(pool, until: 600)
            try await evaluator.evaluate(minutes: 36)
            let notifier = Notifier.forTest(pool, receivers: [.log], clock: clock) { _ in throw CancellationError() }
            #expect(try await notifier.deliverDue() == 0)
            try await evaluator.evaluate(minutes: 37...80)
            #expect(try await AlertStore.open(on: pool).isEmpty)
            #expect(try await notifier.deliverDue() == 0)
            #expect(try await Recorded.outbox(pool).map(\.kind) == ["firing"])
        }
    }

    @Test("what is being sent when an alert ends under a silence stays with its notifier, and its receiver is notified of the end")
    func silencedWhileSent() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            try await fireOnce(pool, receivers: [.log], clock: clock)
            try await pool.execute("UPDATE notifications SET leaseEpoch = 7, leaseUntil = clock_timestamp() + interval '1 minute'")
            _ = try await silence(pool, until: 600)
            try await expireLeases(on: pool)
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            try await evaluator.evaluate(minutes: 36)
            #expect(try await AlertStore.open(on: pool).first?.silencedBy != nil)
            try await evaluator.evaluate(minutes: 60)
            let rows = try await pool.query("SELECT kind || ' ' || state || ' ' || coalesce(leaseEpoch, 0) FROM notifications ORDER BY seq")
            #expect(try rows.map { try $0.decode(String.self) } == ["firing pending 7", "resolved pending 0"])
        }
    }

    @Test("a silence is found by the beginning of its id as long as it has not ended")
    func found() async throws {
        try await withDatabase { pool in
            let silence = try await silence(pool, until: 50)
            _ = try await self.silence(pool, until: 50)
            let (before, after) = ((Traffic.start + 49).timestamp, (Traffic.start + 50).timestamp)
            #expect(try await SilenceStore.find(prefix: String(silence.id.uuidString.prefix(9)), at: before, on: pool) == [silence])
            #expect(try await SilenceStore.find(prefix: String(silence.id.uuidString.prefix(9)), at: after, on: pool) == [])
        }
    }

    @Test("an empty id is that of none, neither of a silence nor of an alert")
    func emptyPrefix() async throws {
        try await withDatabase { pool in
            _ = try await silence(pool, until: 60)
            #expect(try await SilenceStore.find(prefix: "", at: Traffic.start.timestamp, on: pool).isEmpty)
            _ = try await TestNotification.fire(receivers: ["a"], severity: .info, recording: .test(), on: pool)
            #expect(try await AlertStore.open(on: pool).count == 1)
            #expect(try await AlertStore.find(prefix: "", on: pool).isEmpty)
        }
    }

    @Test(
        "a silence of all alerts without a label is refused, as one without a reason is",
        arguments: [([("app", "")], "x", "/matchers"), ([("a", ""), ("b", "")], "x", "/matchers"), ([("a", "b")], " ", "/reason")]
    )
    func refused(matchers: [(name: String, value: String)], reason: String, pointer: String) throws {
        let now = Traffic.start.timestamp
        func request(_ matchers: [SilenceMatcher], _ reason: String) throws -> AlertSilence {
            try SilenceRequest(matchers: matchers, endsAt: now + .seconds(60), reason: reason).silence(author: "ada", now: now)
        }
        let problem = try #require(throws: Problem.self) {
            _ = try request(matchers.map { SilenceMatcher(name: $0.name, value: $0.value) }, reason)
        }
        #expect(problem.pointer == pointer)
        _ = try request([SilenceMatcher(name: "app", value: ""), SilenceMatcher(name: "severity", value: "page")], "x")
        _ = try request([SilenceMatcher(name: "app", value: "", isEqual: false)], "x")
    }

    @Test("matchers compare labels; an absent label is empty; isEqual false turns it round")
    func matchers() {
        let labels = ["alertname": "A", "provider": "fcm"]
        #expect(SilenceMatcher(name: "alertname", value: "A").matches(labels))
        #expect(SilenceMatcher(name: "rule", value: "A").matches(labels))
        #expect(!SilenceMatcher(name: "provider", value: "apns").matches(labels))
        #expect(SilenceMatcher(name: "provider", value: "apns", isEqual: false).matches(labels))
        #expect(SilenceMatcher(name: "platform", value: "").matches(labels))
        #expect(
            SilenceMatcher(name: "provider", value: "f*").matches(labels) && SilenceMatcher(name: "provider", value: "*").matches(labels)
        )
        #expect(!SilenceMatcher(name: "provider", value: "a*").matches(labels))
        #expect(!SilenceMatcher(name: "provider", value: "f*", isEqual: false).matches(labels))
        let app = ["app": "com.Kim.shop.eu"]
        for value in ["com.*.eu", "*shop*", "com.*.shop*", "*eu", "com.Kim.shop.eu"] {
            #expect(SilenceMatcher(name: "app", value: value).matches(app), "\(value)")
        }
        // U+212A, the Kelvin sign, is canonically equivalent to K.
        for value in ["com.*shops*", "com.Kim.*.shop.eu", "com.Kim.shop.e", "com.\u{212A}im.shop.eu", "com.\u{212A}im.*", "*\u{212A}im*"] {
            #expect(!SilenceMatcher(name: "app", value: value).matches(app), "\(value)")
        }
    }
}
