import AlertRules
import Logging
import Postgres
import PushContract

/// Evaluates all rules through a closed minute: fills the series they read, then each rule, those that suppress others first and those that
/// failed in the last round last.
///
/// Each step claims the lease anew. A fault of a rule or of a series stops that rule alone.
struct EvaluationRound: Sendable {
    let pool: PostgresPool
    let receivers: ReceiverRegistry
    let configuration: EvaluatorConfiguration
    let baseline: BaselineStore
    let backlog: BacklogSource?
    let sampling: BacklogSampling?
    let circuits: CircuitSampling?
    let feeds: FeedSampling?
    let metrics: EvaluatorMetrics
    let logger: Logger
    /// Used instead of the database's clock.
    let now: (@Sendable () -> Timestamp)?
    let claim: EvaluatorMaintenance.Claim

    /// Returns why rules and series could not be evaluated, by name.
    ///
    /// - Parameters:
    ///   - failed: what this returned of the last round.
    ///   - isLateDue: rules also evaluate minutes again of which attempts were reported late.
    func run(
        _ rules: [AlertRule],
        after failed: [String: String],
        through last: Minute,
        isLateDue: Bool,
        _ lease: AlertLease
    ) async throws -> [String: String] {
        let rules = Suppression.causesFirst(rules, last: Set(failed.keys))
        let seriesFaults = try await fillSeries(through: last)
        let late = isLateDue ? try await LateAttemptStore.waiting(on: pool) : []
        let faults = seriesFaults.merging(try await evaluate(rules, through: last, late, seriesFaults, lease)) { $1 }
        if !late.isEmpty, faults.isEmpty { try await settle(late, through: last) }
        return faults
    }

    /// One evaluation of one rule.
    func pass(_ rule: AlertRule, _ lease: AlertLease) -> RulePass {
        RulePass(
            rule: rule,
            pool: pool,
            lease: lease,
            configuration: configuration,
            baseline: baseline,
            receivers: receivers.set,
            metrics: metrics,
            backlog: backlog,
            logger: logger,
            now: lease.now(now)
        )
    }

    /// What rules read in addition to the rollups. Returns what could not be filled, with the reason.
    private func fillSeries(through last: Minute) async throws -> [String: String] {
        guard let lease = try await claim() else { return [:] }
        let pass = SeriesPass(
            pool: pool,
            lease: lease,
            recompute: configuration.recomputeMinutes,
            sampling: sampling,
            circuits: circuits,
            feeds: feeds,
            now: lease.now(now)
        )
        let faults = try await pass.run(through: last)
        for (series, fault) in faults {
            logger.error("a series could not be filled", metadata: ["series": "\(series)", "error": "\(fault)"])
        }
        return faults
    }

    private func evaluate(
        _ rules: [AlertRule],
        through last: Minute,
        _ late: [LateAttemptStore.LateMinute],
        _ seriesFaults: [String: String],
        _ current: AlertLease
    ) async throws -> [String: String] {
        var faults: [String: String] = [:]
        let lateSince = late.filter { $0.isEvaluated(at: last) }.map(\.minute).min()
        for rule in rules {
            guard let lease = try await claim() else { throw LeaseLost(lease: current) }
            do {
                var pass = pass(rule, lease)
                pass.lateSince = lateSince
                pass.seriesFault = SeriesFault(rule, seriesFaults)
                log(try await pass.run(through: last))
            } catch let error as LeaseLost {
                throw error
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                // Also errors that count as unavailable, such as a query that exceeds its time or memory: other rules do not depend on it.
                faults[rule.name] = "\(error)"
                logger.error(
                    "a rule could not be evaluated; its alerts keep their state",
                    metadata: ["rule": "\(rule.name)", "error": "\(error)"]
                )
            }
        }
        return faults
    }

    private func settle(_ late: [LateAttemptStore.LateMinute], through last: Minute) async throws {
        guard let lease = try await claim() else { return }
        try await pool.withTransaction { transaction in
            try await AlertLeaseStore.fence(lease, in: transaction)
            try await LateAttemptStore.settle(late, through: last, in: transaction)
        }
        for minute in late { metrics.late(minute.added, isEvaluated: minute.isEvaluated(at: last)) }
    }

    private func log(_ changes: [AlertChange]) {
        for change in changes {
            switch change {
            case .fire(let alert, _, _):
                logger.warning("alert firing", metadata: ["rule": "\(alert.rule)", "group": "\(alert.group)"])
            case .resolve(let alert, _):
                logger.notice("alert resolved", metadata: ["rule": "\(alert.rule)", "group": "\(alert.group)"])
            case .reopen(let alert, _, _):
                logger.warning("alert firing again", metadata: ["rule": "\(alert.rule)", "group": "\(alert.group)"])
            case .update: break
            }
        }
    }
}
