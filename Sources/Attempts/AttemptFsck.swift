package import Postgres
package import PushContract

/// Checks the invariants of stored attempts on a live system, without hurting it.
///
/// Only closed minutes are compared, in small statements. What looks wrong is looked at again after a pause and counts only if it still
/// does: where tables are distributed, a commit is not atomic across nodes.
package struct AttemptFsck {
    package struct Progress: Sendable {
        package var check: FsckCheck
        package var done: Int
        package var total: Int
    }

    let pool: PostgresPool
    private let plan: PartitionPlan
    private let pause: Duration
    private let now: Timestamp
    private let days: Int64

    /// - Parameters:
    ///   - days: how far back attempts are checked, by `attemptedAt`. The ledger is always checked as a whole.
    ///   - pause: before what looks wrong is looked at again.
    package init(
        pool: PostgresPool,
        plan: PartitionPlan = PartitionPlan(),
        days: Int64 = 16,
        pause: Duration = .seconds(1),
        now: Timestamp
    ) {
        self.pool = pool
        self.plan = plan
        self.days = days
        self.pause = pause
        self.now = now
    }

    package func run(onProgress: (Progress) -> Void = { _ in }) async throws -> FsckReport {
        let partitions = try await FsckPartitions.read(on: pool)
        let hours = hours(of: partitions)
        let scope = try await FsckScope.read(plan: plan, partitions: partitions, on: pool)
        let stretches = FsckSlices.keys(estimate: scope.ledgerEstimate)

        let structure = try await checkPartitions()
        let (counted, tokens) = try await checkTokens(hours, onProgress)
        var identity = try await checkHours(.identity, hours, onProgress) { hour, _ in try await misplaced(hour) }
        let facts = try await checkHours(.ledger, hours, onProgress) { hour, scope in try await unledgered(hour, scope) }
        let ledger = try await checkLedger(stretches, onProgress)
        let rollups = try await checkHours(.rollups, hours, onProgress) { hour, _ in try await miscounted(hour) }

        let sameId = { (fault: FsckFault) in fault.key.hasPrefix("twice") }
        identity += (facts + ledger).filter(sameId)
        let attempts = "\(counted) attempts of \(days) days"
        return FsckReport(lines: [
            .init(.partitions, examined: "\(partitions.facts.count) days, \(partitions.rollups.count) months", faults: structure),
            .init(.identity, examined: attempts, faults: identity),
            .init(.ledger, examined: attempts + ", the whole ledger", faults: (facts + ledger).filter { !sameId($0) }),
            .init(.rollups, examined: "\(hours.count) closed hours", faults: rollups),
            .init(.tokens, examined: attempts, faults: tokens),
        ])
    }

    /// The hours that have a partition, up to the last closed minutes.
    private func hours(of partitions: FsckPartitions) -> [Range<Timestamp>] {
        let end = (now - .seconds(120)).flooredToMinute()
        let start = Timestamp(seconds: (now.day - days) * 86_400)
        return partitions.facts.sorted { $0.from < $1.from }.flatMap { FsckSlices.hours(from: max($0.from, start), to: min($0.to, end)) }
    }

    private func checkPartitions() async throws -> [FsckFault] {
        try await twice {
            let partitions = try await FsckPartitions.read(on: pool)
            let from = Timestamp(seconds: (now.day - plan.factRetentionDays) * 86_400)
            let counted = try await pool.query(FsckStatements.countedDays(from: from, to: now)).map { try $0.decode(Int64.self) }
            return partitions.faults(plan: plan, countedDays: Set(counted), now: now)
        }
    }

    private func checkTokens(
        _ hours: [Range<Timestamp>],
        _ onProgress: (Progress) -> Void
    ) async throws -> (attempts: Int, faults: [FsckFault]) {
        var attempts = 0
        var faults: [FsckFault] = []
        for (done, hour) in hours.enumerated() {
            onProgress(Progress(check: .tokens, done: done, total: hours.count))
            for row in try await quietly(FsckStatements.tokens(from: hour.lowerBound, to: hour.upperBound)) {
                let (count, ids) = try row.decode(Int.self, [String].self)
                attempts += count
                faults += ids.map { FsckFault("attempt \($0) holds what looks like a token, or a tokenHash that is none") }
            }
        }
        return (attempts, faults)
    }

    private func checkHours(
        _ check: FsckCheck,
        _ hours: [Range<Timestamp>],
        _ onProgress: (Progress) -> Void,
        _ look: (Range<Timestamp>, FsckScope) async throws -> [FsckFault]
    ) async throws -> [FsckFault] {
        var faults: [FsckFault] = []
        for (done, hour) in hours.enumerated() {
            onProgress(Progress(check: check, done: done, total: hours.count))
            faults += try await twice { try await look(hour, scope()) }
        }
        return faults
    }

    private func checkLedger(_ stretches: [Range<Int>], _ onProgress: (Progress) -> Void) async throws -> [FsckFault] {
        var faults: [FsckFault] = []
        for (done, keys) in stretches.enumerated() {
            onProgress(Progress(check: .ledger, done: done, total: stretches.count))
            faults += try await twice { try await missing(keys, scope()) + ledgeredTwice(keys) }
        }
        return faults
    }

    private func scope() async throws -> FsckScope {
        try await FsckScope.read(plan: plan, partitions: FsckPartitions.read(on: pool), on: pool)
    }

    /// What is found again after a pause.
    private func twice(_ look: () async throws -> [FsckFault]) async throws -> [FsckFault] {
        let first = try await look()
        guard !first.isEmpty else { return [] }
        try await Task.sleep(for: pause)
        let again = Set(try await look().map(\.key))
        return first.filter { again.contains($0.key) }
    }
}
