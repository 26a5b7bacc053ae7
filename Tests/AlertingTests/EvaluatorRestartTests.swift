import AlertRules
import Foundation
import Postgres
import PushContract
import Synchronization
import TestDatabase
import TestSupport
import Testing

@testable import Alerting

@Suite("Restarts, catch-up, late rows, takeover")
struct EvaluatorRestartTests {
    /// Two groups: one breaks, recovers and breaks again, with a gap; the other breaks once.
    private func trace(_ traffic: Traffic) async throws {
        try await traffic.add(0..<30, attempts: 60, bad: 0)
        try await traffic.add(30..<55, attempts: 60, bad: 12)
        try await traffic.add(55..<80, attempts: 60, bad: 0)
        // No traffic at all from 80 to 90.
        try await traffic.add(90..<115, attempts: 60, bad: 30)
        try await traffic.add(0..<70, attempts: 40, bad: 1, provider: "apns")
        try await traffic.add(70..<120, attempts: 40, bad: 8, provider: "apns")
    }

    private static let expected = [
        Recorded(group: "provider=fcm", kind: "firing", minute: 44),
        Recorded(group: "provider=fcm", kind: "resolved", minute: 64),
        Recorded(group: "provider=apns", kind: "firing", minute: 84),
        Recorded(group: "provider=fcm", kind: "reopened", minute: 104),
    ]

    @Test("a restart after every minute, no restart, and one catch-up over everything give the same transitions and outbox")
    func restarts() async throws {
        var transitions: [[Recorded]] = []
        var outboxes: [[Recorded]] = []
        for plan in ["steady", "restarting", "catching up"] {
            try await withDatabase { pool in
                try await trace(try await Traffic(pool))
                var evaluator = RuleEvaluator.forTest(pool)
                try await evaluator.evaluate(minutes: 20)
                for minute in 21...120 where plan != "catching up" || minute == 120 {
                    if plan == "restarting" {
                        try await evaluator.release()
                        evaluator = RuleEvaluator.forTest(pool)
                    }
                    try await evaluator.evaluate(minutes: minute)
                }
                transitions.append(try await Recorded.transitions(pool))
                outboxes.append(try await Recorded.outbox(pool))
            }
        }
        #expect(transitions[0] == Self.expected)
        #expect(transitions[1] == transitions[0])
        #expect(transitions[2] == transitions[0])
        #expect(outboxes[1] == outboxes[0])
        #expect(outboxes[2] == outboxes[0])
    }

    @Test("what was stored equals what folding from the beginning gives")
    func checkpoint() async throws {
        try await withDatabase { pool in
            try await trace(try await Traffic(pool))
            let evaluator = RuleEvaluator.forTest(pool)
            for minute in stride(from: 20, through: 120, by: 5) {
                try await evaluator.evaluate(minutes: minute)
                let stored = try await pool.query("SELECT groupKey FROM alerts WHERE state = 'firing' ORDER BY 1")
                let fresh = try await withDatabase { other in
                    try await trace(try await Traffic(other))
                    try await RuleEvaluator.forTest(other).evaluate(minutes: minute)
                    return try await AlertStore.open(on: other).map(\.group.description).sorted()
                }
                #expect(try stored.map { try $0.decode(String.self) } == fresh, "at minute \(minute)")
            }
        }
    }

    @Test("a rule that is new sees what goes on, and not what came and went")
    func newRule() async throws {
        try await withDatabase { pool in
            try await trace(try await Traffic(pool))
            let clock = ManualClock((Traffic.start + 111).timestamp)
            try await RuleEvaluator.forTest(pool, clock: clock).evaluate(minutes: 110)
            #expect(
                try await Recorded.transitions(pool) == [
                    Recorded(group: "provider=fcm", kind: "firing", minute: 44),
                    Recorded(group: "provider=apns", kind: "firing", minute: 84),
                ]
            )
            let late = try await AlertStore.open(on: pool).map(\.detectedLateBySeconds).sorted()
            #expect(late == [25 * 60, 65 * 60])
        }
    }

    @Test("rows that come late fire an alert for the minute that decided, once")
    func lateRows() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<40, attempts: 100, bad: 0)
            let clock = ManualClock((Traffic.start + 40).timestamp)
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            try await evaluator.evaluate(minutes: 20)
            try await evaluator.evaluate(minutes: 40)
            #expect(try await Recorded.transitions(pool) == [])
            // The failures of minutes 20–35 arrive when minute 40 was evaluated already.
            try await traffic.add(20..<36, attempts: 50, bad: 50)
            try await evaluator.evaluate(minutes: 41)
            let fired = [Recorded(group: "provider=fcm", kind: "firing", minute: 34)]
            #expect(try await Recorded.transitions(pool) == fired)
            // More of the same: no second alert, and the numbers it fired with are marked as revised.
            try await traffic.add(30..<35, attempts: 50, bad: 50)
            try await evaluator.evaluate(minutes: 42)
            #expect(try await Recorded.transitions(pool) == fired)
            #expect(try await AlertStore.open(on: pool).map(\.revised) == [true])
        }
    }

    @Test("late good rows do not take back what was delivered")
    func noRetraction() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 1)
            try await traffic.add(20..<60, attempts: 100, bad: 6)
            let evaluator = RuleEvaluator.forTest(pool)
            try await evaluator.evaluate(minutes: 20...35)
            #expect(try await AlertStore.open(on: pool).count == 1)
            try await traffic.add(26..<35, attempts: 40, bad: 0)
            try await evaluator.evaluate(minutes: 36...50)
            #expect(try await Recorded.transitions(pool).map(\.kind).first == "firing")
            #expect(try await Recorded.transitions(pool).filter { $0.kind == "firing" }.count == 1)
        }
    }

    @Test("without traffic an alert keeps firing, and says since when")
    func keepsFiringWithoutData() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<20, attempts: 100, bad: 1)
            try await traffic.add(20..<36, attempts: 100, bad: 100)
            let evaluator = RuleEvaluator.forTest(pool)
            for minute in stride(from: 20, through: 300, by: 20) { try await evaluator.evaluate(minutes: minute) }
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.noDataSince == (Traffic.start + 36).timestamp)
            try await traffic.add(300..<320, attempts: 100, bad: 0)
            try await evaluator.evaluate(minutes: 301...320)
            #expect(try await AlertStore.open(on: pool).isEmpty)
        }
    }

    @Test("of two evaluators one works; a stale one that wakes up is fenced off")
    func fencing() async throws {
        try await withDatabase { pool in
            try await trace(try await Traffic(pool))
            let first = RuleEvaluator.forTest(pool)
            let second = RuleEvaluator.forTest(pool)
            try await first.evaluate(minutes: 40)
            try await second.evaluate(minutes: 50)
            #expect(try await Recorded.transitions(pool) == [], "the second one waits")
            try await expireLeases(on: pool)
            let stale = try #require(try await lease(pool))
            try await second.evaluate(minutes: 50)
            try await first.evaluate(minutes: 60)
            #expect(try await Recorded.transitions(pool).count == 1, "the first one waits now")
            await #expect(throws: LeaseLost.self) {
                try await pool.withTransaction { try await AlertLeaseStore.fence(stale, in: $0) }
            }
            let epochs = try await pool.query("SELECT epoch FROM alertTransitions").map { try $0.decode(Int64.self) }
            #expect(epochs == [stale.epoch + 1])
        }
    }

    @Test("an evaluator extends its lease while a rule takes longer than the lease lasts, and another one waits")
    func renewal() async throws {
        try await withDatabase { pool in
            try await trace(try await Traffic(pool))
            let second = RuleEvaluator.forTest(pool)
            let first = RuleEvaluator.forTest(pool, sleeps: ImmediateClock()) { _ in
                try await pool.execute("UPDATE alertLeases SET expiresAt = clock_timestamp() + interval '5 seconds'")
                // Without an extension it expires.
                try await eventually("the lease is extended or expires") {
                    try await !pool.query(
                        "SELECT expiresAt BETWEEN clock_timestamp() AND clock_timestamp() + interval '30 seconds' FROM alertLeases"
                    )[0].decode(Bool.self)
                }
                try await second.evaluate(minutes: 50)
                return BacklogNumbers(waiting: 0)
            }
            try await first.evaluate(minutes: 20)
            try await first.evaluate(minutes: 50)
            #expect(try await Recorded.transitions(pool).count == 1)
            #expect(try await lease(pool)?.epoch == 1)
            #expect(first.succeededAt != nil && second.succeededAt == nil)
        }
    }

    @Test("an evaluator that was replaced in the middle of a rule stops without an error, and what the other one wrote stays")
    func replaced() async throws {
        try await withDatabase { pool in
            try await trace(try await Traffic(pool))
            let second = RuleEvaluator.forTest(pool)
            let first = RuleEvaluator.forTest(pool) { _ in
                try await expireLeases(on: pool)
                try await second.evaluate(minutes: 50)
                return BacklogNumbers(waiting: 0)
            }
            try await first.evaluate(minutes: 20)
            try await first.evaluate(minutes: 50)
            #expect(try await Recorded.transitions(pool).count == 1)
            #expect(first.succeededAt == nil && second.succeededAt != nil)
        }
    }

    @Test("a rule that fails keeps none of the others from being evaluated, whatever the error, and is tried again a minute later")
    func oneFault() async throws {
        // What is out of memory is called unavailable.
        for code in ["53200", "P0001"] {
            try await withDatabase { pool in
                try await trace(try await Traffic(pool))
                let rules = ["First", "Second"].map { Rules.make($0, Rules.provider5xx.condition, by: [.provider]) }
                let clock = ManualClock()
                let evaluator = RuleEvaluator.forTest(pool, rules, clock: clock)
                // What a refused transaction has taken of a sequence stays taken.
                try await pool.execute("CREATE SEQUENCE refusals")
                try await pool.execute(
                    """
                    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                        PERFORM nextval('refusals');
                        RAISE EXCEPTION USING ERRCODE = '\(raw: code)', MESSAGE = 'refused';
                    END $$
                    """
                )
                func refuse(_ rules: String) async throws {
                    try await pool.execute(
                        """
                        CREATE TRIGGER refuse BEFORE INSERT ON alertRuleProgress FOR EACH ROW
                        WHEN (NEW.rule LIKE '\(raw: rules)') EXECUTE FUNCTION refuse()
                        """
                    )
                }
                func refusals() async throws -> Int {
                    try await pool.query("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM refusals")[0].decode(Int.self)
                }
                try await evaluator.evaluate(minutes: 20)
                try await refuse("First")
                for wait in [0, 2, 57] {
                    clock.advance(.seconds(wait))
                    try await evaluator.evaluate(minutes: 50)
                    #expect(evaluator.faults.count == 1)
                    #expect(try await refusals() == 1, "once a minute")
                }
                // Of the rules; RulesNotEvaluated has no group, and begins when a rule has been behind for two minutes.
                #expect(try await Recorded.transitions(pool).filter { !$0.group.isEmpty }.map(\.kind) == ["firing"])
                try await pool.execute("DROP TRIGGER refuse ON alertRuleProgress")
                clock.advance(.seconds(1))
                try await evaluator.evaluate(minutes: 50)
                #expect(evaluator.faults == [:])
                #expect(try await Recorded.transitions(pool).filter { !$0.group.isEmpty }.map(\.kind) == ["firing", "firing"])
                #expect(try await Recorded.transitions(pool).filter(\.group.isEmpty) == [])
                // Of both rules: one alert says so.
                try await refuse("%")
                for minute in 1...3 {
                    try await evaluator.evaluate(minutes: 90)
                    #expect(evaluator.faults.count == 2)
                    #expect(try await refusals() == 1 + 2 * minute)
                    clock.advance(.seconds(60))
                }
                let alerts = try await AlertStore.open(rule: "RulesNotEvaluated", on: pool)
                #expect(alerts.map { $0.annotations["summary"] } == ["Not evaluated since 2026-01-05 12:50 UTC: First, Second"])
            }
        }
    }

    @Test("where what follows the rules fails, they are evaluated again a minute later all the same")
    func maintenanceFault() async throws {
        try await withDatabase { pool in
            try await trace(try await Traffic(pool))
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            try await pool.execute("ALTER TABLE foldedLabelDays RENAME TO away")
            await #expect(throws: PostgresError.self) { try await evaluator.evaluate(minutes: 20) }
            clock.advance(.seconds(2))
            // Nothing is to be done.
            try await evaluator.evaluate(minutes: 20)
            clock.advance(.seconds(58))
            await #expect(throws: PostgresError.self) { try await evaluator.evaluate(minutes: 20) }
            #expect(evaluator.succeededAt == nil)
        }
    }

    @Test(
        "an alert fires without the backlog where counting it exceeds its time",
        arguments: [PostgresError.Code.queryCancelled, .callTimeout]
    )
    func uncounted(code: PostgresError.Code) async throws {
        try await withDatabase { pool in
            try await trace(try await Traffic(pool))
            let evaluator = RuleEvaluator.forTest(pool) { _ in throw PostgresError(code, "counting takes too long") }
            try await evaluator.evaluate(minutes: 20)
            try await evaluator.evaluate(minutes: 50)
            #expect(evaluator.faults == [:])
            let alerts = try await AlertStore.open(on: pool)
            #expect(alerts.map(\.rule) == ["ProviderUnavailable"] && alerts.map(\.backlog) == [nil])
        }
    }

    @Test("an alert does not fire while the connection is lost: that is a fault of its rule, and it fires a minute later")
    func connectionLost() async throws {
        try await withDatabase { pool in
            try await trace(try await Traffic(pool))
            let isLost = Mutex(true)
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, clock: clock) { _ in
                if isLost.withLock({ $0 }) { throw PostgresError(.connectionFailure, "the connection is gone") }
                return BacklogNumbers(waiting: 7)
            }
            try await evaluator.evaluate(minutes: 20)
            try await evaluator.evaluate(minutes: 50)
            #expect(Array(evaluator.faults.keys) == ["ProviderUnavailable"])
            #expect(try await AlertStore.open(on: pool).isEmpty)
            isLost.withLock { $0 = false }
            clock.advance(.seconds(60))
            try await evaluator.evaluate(minutes: 50)
            #expect(evaluator.faults == [:])
            #expect(try await AlertStore.open(on: pool).map(\.backlog?.waiting) == [7])
        }
    }

    @Test("an alert fires without its impact where that cannot be read")
    func unreadImpact() async throws {
        try await withDatabase { pool in
            try await trace(try await Traffic(pool))
            let evaluator = RuleEvaluator.forTest(pool)
            try await evaluator.evaluate(minutes: 20)
            // Out of memory, whenever attempts are read.
            try await pool.execute("ALTER VIEW attemptLabels RENAME TO readable")
            try await pool.execute(
                """
                CREATE FUNCTION refuse() RETURNS SETOF readable LANGUAGE plpgsql AS $$ BEGIN
                    RAISE EXCEPTION USING ERRCODE = '53200', MESSAGE = 'refused';
                END $$
                """
            )
            try await pool.execute("CREATE VIEW attemptLabels AS SELECT * FROM refuse()")
            try await evaluator.evaluate(minutes: 50)
            #expect(evaluator.faults == [:])
            let alerts = try await AlertStore.open(on: pool)
            #expect(alerts.map(\.rule) == ["ProviderUnavailable"])
            #expect(alerts.allSatisfy { $0.contributors.isEmpty && $0.affected == nil })
        }
    }

    private func lease(_ pool: PostgresPool) async throws -> AlertLease? {
        try await pool.query("SELECT name, holder, epoch FROM alertLeases").first.map {
            let (name, holder, epoch) = try $0.decode((String, String, Int64).self)
            return AlertLease(name: name, holder: holder, epoch: epoch)
        }
    }
}
