import AlertRules
import Logging
import Postgres
import PushContract
import Synchronization

/// What the evaluator does each minute in addition to evaluating: alerts of removed rules, built-in alerts, repeats, pages that reach
/// nobody, the current impact, and retention once an hour.
///
/// Each step claims the lease anew and does nothing without it. Safe to use from any task.
final class EvaluatorMaintenance: Sendable {
    private let pool: PostgresPool
    private let rules: RuleRegistry
    private let receivers: ReceiverRegistry
    private let backlog: BacklogSource?
    private let sampleTime: Duration
    private let logger: Logger
    private let now: (@Sendable () -> Timestamp)?
    /// When this was made, by the simulated and by the monotonic clock.
    private let madeAt: (simulated: Timestamp?, clock: ContinuousClock.Instant)
    private let cleanedUpAt = Mutex<Timestamp?>(nil)
    /// Rules that have alerts or a state and are in no file, and since when they were seen to be so.
    private let missing = Mutex<[String: Timestamp]>([:])
    /// Rules that are not evaluated, and since when they were seen to be so.
    private let late = Mutex<[String: Timestamp]>([:])

    /// How long a rule must be in no file before its alerts are resolved: an editor or a checkout removes files before it writes the new
    /// ones.
    static let gracePeriod = Duration.seconds(60)

    /// The evaluator's lease, or nil while another instance holds it.
    typealias Claim = @Sendable () async throws -> AlertLease?
    /// One evaluation of one rule under a lease.
    typealias Pass = @Sendable (AlertRule, AlertLease) -> RulePass

    init(
        pool: PostgresPool,
        rules: RuleRegistry,
        receivers: ReceiverRegistry,
        backlog: BacklogSource?,
        sampleTime: Duration,
        logger: Logger,
        now: (@Sendable () -> Timestamp)?
    ) {
        self.pool = pool
        self.rules = rules
        self.receivers = receivers
        self.backlog = backlog
        self.sampleTime = sampleTime
        self.logger = logger
        self.now = now
        madeAt = (now?(), .now)
    }

    func run(_ current: [AlertRule], through last: Minute, pass: Pass, claim: Claim) async throws {
        try await resolveRemovedRules(current, through: last, pass: pass, claim: claim)
        try await evaluateBuiltInAlerts(through: last, claim)
        try await cleanUp(current, claim)
        try await refreshImpact(current, through: last, claim: claim)
    }

    /// A rule that is missing because its file is invalid, or only briefly, keeps its alerts.
    private func resolveRemovedRules(_ current: [AlertRule], through last: Minute, pass: Pass, claim: Claim) async throws {
        guard !rules.isBroken, let any = current.first else { return }
        let gone = try await RuleCheckpoint.removedRules(current.map(\.name), on: pool)
        guard let lease = try await claim() else { return }
        let now = lease.now(now)
        let since = missing.withLock { missing in
            missing = Dictionary(gone.map { ($0, missing[$0] ?? now) }, uniquingKeysWith: { first, _ in first })
            return missing
        }
        for name in gone where now - (since[name] ?? now) >= Self.gracePeriod {
            guard let lease = try await claim() else { return }
            try await pass(any, lease).forget(name, through: last)
            logger.notice("a rule was removed; its alerts are resolved", metadata: ["rule": "\(name)"])
        }
    }

    /// The built-in alerts.
    private func evaluateBuiltInAlerts(through last: Minute, _ claim: Claim) async throws {
        guard let lease = try await claim() else { return }
        let now = lease.now(now)
        let pass = BuiltInPass(
            pool: pool,
            lease: lease,
            receivers: receivers.set,
            rules: rules,
            last: last,
            observedSince: madeAt.simulated ?? now - (ContinuousClock.now - madeAt.clock),
            now: now,
            lasting: { self.lasting($0, at: now) }
        )
        for alert in try await pass.run() {
            let text = alert.annotations["summary"] ?? alert.rule
            logger.log(level: alert.state == .firing ? .error : .notice, "\(alert.rule) \(alert.state.rawValue): \(text)")
        }
    }

    /// Of rules that are late, those that were so two minutes ago: the first pass after an outage finds all of them late.
    private func lasting(_ names: [String], at now: Timestamp) -> Set<String> {
        let since = late.withLock { late in
            late = Dictionary(names.map { ($0, late[$0] ?? now) }, uniquingKeysWith: { first, _ in first })
            return late
        }
        return Set(names.filter { now - (since[$0] ?? now) >= .seconds(120) })
    }

    /// Repeats, pages that reach nobody, and retention once an hour.
    private func cleanUp(_ current: [AlertRule], _ claim: Claim) async throws {
        guard let lease = try await claim() else { return }
        let now = lease.now(now)
        try await RepeatPass(pool: pool, lease: lease, receivers: receivers.set, now: now).run()
        try await UnnotifiedPass(pool: pool, lease: lease, receivers: receivers.set, now: now).run()
        let isDue = cleanedUpAt.withLock { cleanedUpAt in
            guard cleanedUpAt.map({ now - $0 >= .seconds(3600) }) ?? true else { return false }
            cleanedUpAt = now
            return true
        }
        guard isDue else { return }
        try await AlertRetention.drop(now: now, on: pool)
        try await BaselineStore.clean(current, now: now, on: pool)
    }

    /// The current impact of firing alerts. Nothing depends on it, so a failure is only logged.
    private func refreshImpact(_ rules: [AlertRule], through last: Minute, claim: Claim) async throws {
        guard let lease = try await claim() else { return }
        let pass = ImpactPass(
            rules: rules,
            pool: pool,
            lease: lease,
            backlog: backlog,
            sampleTime: sampleTime,
            logger: logger,
            now: lease.now(now)
        )
        do {
            try await pass.run(through: last)
        } catch let error as PostgresError where !error.isUnavailable {
            logger.warning("the impact of alerts could not be updated", metadata: ["error": "\(error)"])
        }
    }
}
