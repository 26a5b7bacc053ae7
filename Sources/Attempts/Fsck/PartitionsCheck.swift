import Postgres

/// Partitions exist without a gap and ahead of time, and the ledger has a table for each generation in use.
struct PartitionsCheck: FsckCheck {
    let name = "partitions"

    func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let partitions = try await FsckPartitions.read(on: context.pool)
        let faults = try await context.confirmed { try await self.faults(context) }
        let examined = "\(partitions.facts.count) days, \(partitions.rollups.count) months"
        return [FsckReport.Line(name, "partitions exist without a gap and ahead of time", examined: examined, faults: faults)]
    }

    private func faults(_ context: FsckContext) async throws -> [FsckFault] {
        let partitions = try await FsckPartitions.read(on: context.pool)
        let present = Set(partitions.facts.map(\.from.day))
        var counted: Set<Int64> = []
        for day in context.now.day - context.plan.factRetentionDays...context.now.day where !present.contains(day) {
            if try await context.look(PartitionStatements.isCounted(day))[0].decode(Bool.self) { counted.insert(day) }
        }
        let state = try await LedgerGenerations.read(on: context.pool)
        let generations = try await PartitionStatements.generations(on: context.pool)
        let missing = (state.oldest...state.current).map { "attemptledger_\($0)" }.filter { !generations.contains($0) }
        return partitions.faults(plan: context.plan, countedDays: counted, now: context.now)
            + missing.map { FsckFault("the ledger's generation \($0) has no table") }
    }
}
