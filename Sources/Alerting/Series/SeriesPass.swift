import AlertRules
import Postgres
import PushContract

/// Brings the other series up to date, before rules read them.
struct SeriesPass {
    let pool: PostgresPool
    let lease: AlertLease
    let recompute: Int
    let sampling: BacklogSampling?
    let circuits: CircuitSampling?
    let feeds: FeedSampling?
    let now: Timestamp

    /// Returns what could not be filled, with the reason; the others are filled all the same. Throws when the lease is lost.
    func run(through last: Minute) async throws -> [String: String] {
        var faults: [String: String] = [:]
        try await attempt(BacklogSeries.name, &faults) {
            if let sampling { try await BacklogSeries.add(try await sampling(now), at: now, on: pool) }
        }
        try await attempt(CircuitSeries.name, &faults) {
            if let circuits { try await CircuitSeries.add(try await circuits(now - CircuitSeries.reach), at: now, on: pool) }
        }
        try await attempt(FeedSeries.name, &faults) {
            if let feeds { try await FeedSeries.add(try await feeds(now), at: now, on: pool) }
        }
        try await attempt(CodeSeries.name, &faults) {
            try await CodeSeries(lease: lease, recompute: recompute, pool: pool).fill(through: last)
        }
        try await attempt(ReregistrationSeries.name, &faults) {
            try await ReregistrationSeries(lease: lease, pool: pool).fill(through: last)
        }
        return faults
    }

    private func attempt(_ name: String, _ faults: inout [String: String], _ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let error as LeaseLost {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            faults[name] = "\(error)"
        }
    }
}

/// A series that a rule reads is not filled.
struct SeriesFault: Error, CustomStringConvertible {
    let series: String
    let reason: String
    var description: String { "\(series): \(reason)" }

    /// Nil when everything is filled that the rule reads.
    init?(_ rule: AlertRule, _ faults: [String: String]) {
        guard let series = rule.series, let reason = faults[series] else { return nil }
        self.series = series
        self.reason = reason
    }
}

extension AlertRule {
    /// The series that it reads, as `SeriesPass` names them; nil: the rollups alone.
    fileprivate var series: String? {
        switch condition.source {
        case .attempts: condition.ratio?.minBlocked == nil ? nil : CircuitSeries.name
        case .backlog, .queueAge: BacklogSeries.name
        case .codes: CodeSeries.name
        case .reregistrations: ReregistrationSeries.name
        case .feeds: FeedSeries.name
        }
    }
}
