import AlertRules
import Alerting
import Foundation
import Logging
import Postgres
import PushContract
import Synchronization
import TestDatabase

/// A wall clock that a test sets.
final class ManualClock: Sendable {
    private let moment: Mutex<Timestamp>

    init(_ moment: Timestamp = Traffic.start.timestamp) { self.moment = Mutex(moment) }

    var now: Timestamp { moment.withLock { $0 } }

    func set(_ moment: Timestamp) { self.moment.withLock { $0 = moment } }
    func advance(_ duration: Duration) { moment.withLock { $0 = $0 + duration } }
}

/// Every sleep ends at once, until its task is cancelled.
struct ImmediateClock: Clock {
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        await Task.yield()
    }
}

extension RuleEvaluator {
    /// An evaluator whose clock a test sets.
    static func forTest(
        _ pool: PostgresPool,
        _ rules: [AlertRule] = [Rules.provider5xx],
        receivers: [ReceiverConfiguration] = [.log],
        clock: ManualClock = ManualClock(),
        leaseDuration: Duration = .seconds(60),
        sleeps: any Clock<Duration> = ContinuousClock(),
        logger: Logger = .silent,
        backlog: BacklogSource? = nil
    ) -> RuleEvaluator {
        RuleEvaluator(
            pool: pool,
            rules: RuleRegistry(rules: rules, logger: .silent),
            receivers: ReceiverRegistry(fixed: receivers, logger: .silent),
            configuration: EvaluatorConfiguration(leaseDuration: leaseDuration, sampleTime: .seconds(60)),
            backlog: backlog,
            logger: logger,
            clock: sleeps,
            now: { clock.now }
        )
    }

    /// Evaluates what is closed after `minutes` minutes of the test's traffic.
    func evaluate(minutes: Int) async throws {
        try await evaluate(through: (Traffic.start + minutes).timestamp)
    }

    /// Evaluates after each of these minutes.
    func evaluate(minutes: ClosedRange<Int>) async throws {
        for minute in minutes { try await evaluate(minutes: minute) }
    }
}

/// As if the holder of this lease, or of any, had not been heard of for as long as it lasts.
func expireLeases(_ name: String? = nil, on pool: PostgresPool) async throws {
    try await pool.execute("UPDATE alertLeases SET expiresAt = clock_timestamp() WHERE coalesce(name = \(name), true)")
}

/// Makes each evaluation of the rule fail until its row `x` is deleted.
func breakCheckpoint(of rule: String, _ pool: PostgresPool) async throws {
    try await pool.execute(
        """
        INSERT INTO alertCheckpoints (rule, ruleVersion, groupKey, groupLabels, asOf, state)
        SELECT rule, ruleVersion, 'x', '{}', asOf, '"x"' FROM alertRuleProgress WHERE rule = \(rule)
        """
    )
}

/// What was recorded, without ids and times of writing.
struct Recorded: Hashable, CustomStringConvertible {
    var group: String
    var kind: String
    /// Minutes since the start of the traffic, of the minute that decided.
    var minute: Int

    var description: String { "\(group) \(kind) @\(minute)" }

    static func transitions(_ pool: PostgresPool) async throws -> [Recorded] {
        try await pool.query(
            """
            SELECT e.groupKey, t.kind, t.minute FROM alertTransitions t JOIN alerts e USING (alertId)
            ORDER BY t.minute, e.groupKey, t.seq
            """
        ).map(Recorded.init(row:))
    }

    static func outbox(_ pool: PostgresPool) async throws -> [Recorded] {
        try await pool.query(
            """
            SELECT e.groupKey || ' ' || o.receiver, o.kind, t.minute
            FROM notifications o JOIN alertTransitions t USING (alertId, seq) JOIN alerts e USING (alertId)
            ORDER BY t.minute, 1, o.seq
            """
        ).map(Recorded.init(row:))
    }

    init(group: String, kind: String, minute: Int) {
        self.group = group
        self.kind = kind
        self.minute = minute
    }

    private init(row: Row) throws {
        let (group, kind, minute) = try row.decode((String, String, Timestamp).self)
        self.init(group: group, kind: kind, minute: Minute(minute) - Traffic.start)
    }
}
