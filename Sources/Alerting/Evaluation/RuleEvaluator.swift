import AlertRules
import Foundation
package import Logging
package import Postgres
package import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization

/// How much waits to be sent, when an alert begins.
package typealias BacklogSource = @Sendable (Timestamp) async throws -> BacklogNumbers

/// Evaluates all rules once for every closed minute, however late, and stores what began and ended.
///
/// Any number may run against one database: the one that holds the lease works, the others wait. State is in the database and is a
/// function of the rollups, so a restart, a takeover and a catch-up after hours come to the same alerts.
package final class RuleEvaluator: Service, Sendable {
    private struct State {
        var evaluated: Minute?
        /// The minute in which it was evaluated.
        var checkedAt: Minute?
        /// The newest minute when late attempts were last evaluated.
        var lateCheckedAt: Minute?
        var rules: [AlertRule] = []
        var faults: [String: String] = [:]
        var succeededAt: Timestamp?
    }

    static let leaseName = "evaluator"

    private let pool: PostgresPool
    private let rules: RuleRegistry
    private let receivers: ReceiverRegistry
    private let configuration: EvaluatorConfiguration
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let now: (@Sendable () -> Timestamp)?
    private let machineNow: @Sendable () -> Timestamp
    private let claim: EvaluatorMaintenance.Claim
    private let round: EvaluationRound
    private let maintenance: EvaluatorMaintenance
    private let watermark: EvaluationWatermark
    private let clockCheck: ClockCheck
    private let metrics = EvaluatorMetrics()
    private let state = Mutex(State())

    /// - Parameters:
    ///   - now: used instead of the database's clock, where the time is simulated.
    ///   - machineNow: this machine's clock. It decides nothing; a difference from the database's is logged.
    package init(
        pool: PostgresPool,
        rules: RuleRegistry,
        receivers: ReceiverRegistry,
        configuration: EvaluatorConfiguration = EvaluatorConfiguration(),
        backlog: BacklogSource? = nil,
        sampling: BacklogSampling? = nil,
        circuits: CircuitSampling? = nil,
        feeds: FeedSampling? = nil,
        logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        now: (@Sendable () -> Timestamp)? = nil,
        machineNow: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.pool = pool
        self.rules = rules
        self.receivers = receivers
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        self.now = now
        self.machineNow = machineNow
        let holder = UUID().uuidString
        claim = { try await AlertLeaseStore.claim(RuleEvaluator.leaseName, holder: holder, for: configuration.leaseDuration, on: pool) }
        round = EvaluationRound(
            pool: pool,
            receivers: receivers,
            configuration: configuration,
            baseline: BaselineStore(),
            backlog: backlog,
            sampling: sampling,
            circuits: circuits,
            feeds: feeds,
            metrics: metrics,
            logger: logger,
            now: now,
            claim: claim
        )
        watermark = EvaluationWatermark(pool: pool, configuration: configuration, metrics: metrics, logger: logger)
        clockCheck = ClockCheck(logger: logger)
        maintenance = EvaluatorMaintenance(
            pool: pool,
            rules: rules,
            receivers: receivers,
            backlog: backlog,
            sampleTime: configuration.sampleTime,
            logger: logger,
            now: now
        )
    }

    /// Rules whose last evaluation failed, with the reason. Their alerts keep their state as they are.
    package var faults: [String: String] { state.withLock { $0.faults } }

    /// When this instance last evaluated everything without a fault, by the database's clock; nil before, and while another one evaluates.
    var succeededAt: Timestamp? { state.withLock { $0.succeededAt } }

    /// Works until shutdown, then lets the next one take over at once.
    package func run() async throws {
        try await PeriodicService("rule evaluation", every: self.pause(), clock: clock, logger: logger, failureLevel: .error) {
            try await self.evaluate()
        }.run()
        try? await release()
    }

    /// Evaluates what is closed now, by the database's clock: one of this machine that is slow delays no alert.
    package func evaluate() async throws {
        guard let lease = try await begin() else { return }
        try await evaluate(through: try await watermark.read(at: lease.now(now)), lease)
    }

    /// Evaluates what is closed at `watermark`: the moment before which all attempts are known.
    ///
    /// Does nothing while another instance holds the lease, and stops when another one takes it over. Throws when the database is away; a
    /// fault of a rule stops that rule, for a minute, and is reported by `faults` and `RulesNotEvaluated`.
    package func evaluate(through watermark: Timestamp) async throws {
        guard let lease = try await begin() else { return }
        try await evaluate(through: watermark, lease)
    }

    /// Nil while another instance holds the lease.
    private func begin() async throws -> AlertLease? {
        rules.refresh()
        receivers.refresh()
        guard let lease = try await claim() else {
            resetProgress()
            return nil
        }
        if now == nil { clockCheck.compare(machineNow(), withDatabase: lease.now(nil)) }
        return lease
    }

    private func evaluate(through watermark: Timestamp, _ lease: AlertLease) async throws {
        let last = Minute.lastClosed(before: watermark)
        let current = rules.rules
        let start = lease.now(now)
        // Repeats and built-in alerts are due once a minute, also while the evaluation waits for a writer.
        let isIdle = state.withLock { $0.evaluated == last && $0.rules == current && $0.checkedAt == Minute(start) }
        if isIdle { return }
        do {
            // Ended with this scope.
            async let _: Void = renewLease()
            try await evaluate(current, through: last, since: start, lease)
        } catch let error as LeaseLost {
            logger.notice("another instance took over the evaluation", metadata: ["error": "\(error)"])
            resetProgress()
        }
    }

    /// One rule's statements may take longer than the lease lasts. Without a renewal another instance would take over in their middle, be
    /// late in turn, and neither would get past that rule.
    private func renewLease() async {
        while !Task.isCancelled, (try? await clock.sleep(for: configuration.leaseDuration / 3, tolerance: nil)) != nil {
            // A failure is noticed by the next commit.
            _ = try? await claim()
        }
    }

    private func evaluate(_ current: [AlertRule], through last: Minute, since start: Timestamp, _ lease: AlertLease) async throws {
        let isLateDue = isLateDue(at: last)
        let faults = try await round.run(current, after: self.faults, through: last, isLateDue: isLateDue, lease)
        state.withLock { state in
            state.faults = faults
            // What failed is tried again a minute later: at once, a statement that reaches its time limit each time would run all the time.
            state.evaluated = last
            state.rules = current
            state.checkedAt = Minute(start)
            if isLateDue { state.lateCheckedAt = last }
        }
        try await maintenance.run(current, through: last, pass: round.pass, claim: claim)
        let finished = lease.now(now)
        if faults.isEmpty { state.withLock { $0.succeededAt = finished } }
        let progress = try await RuleProgress.all(on: pool)
        metrics.evaluated(
            through: RuleProgress.through(progress, rules: current, last: last) ?? (last + 1).timestamp,
            duration: finished - start,
            faults: faults.count,
            open: try await AlertStore.openCounts(on: pool)
        )
    }

    package func release() async throws {
        guard let lease = try await claim() else { return }
        try await AlertLeaseStore.release(lease, on: pool)
    }

    /// Every few minutes, also while a rule has a fault, as evaluating again costs more the older the minute is.
    private func isLateDue(at last: Minute) -> Bool {
        state.withLock { $0.lateCheckedAt.map { $0.index / Self.lateInterval != last.index / Self.lateInterval } ?? true }
    }

    private static let lateInterval: Int64 = 5

    /// Another instance evaluates: if this one takes over again, it evaluates everything again.
    private func resetProgress() {
        metrics.idle()
        state.withLock {
            $0.evaluated = nil
            $0.lateCheckedAt = nil
            $0.succeededAt = nil
        }
        watermark.reset()
    }

    /// Until the next minute closes, or the lease is to be extended.
    private func pause() -> Duration {
        let now = now?() ?? machineNow()
        let next = (Minute(now - configuration.lag) + 1).timestamp + configuration.lag
        return max(.milliseconds(20), min(next - now + .milliseconds(20), configuration.pollInterval))
    }
}
