import Postgres
import PushContract

/// Partitions stand without a gap and ahead of time, and the ledger has a table for each generation in use.
struct PartitionsCheck: FsckCheck {
    let name = "partitions"

    func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let partitions = try await FsckPartitions.read(on: context.pool)
        let faults = try await context.confirmed { try await self.faults(context) }
        let examined = "\(partitions.facts.count) days, \(partitions.rollups.count) months"
        return [FsckReport.Line(name, "partitions stand without a gap and ahead of time", examined: examined, faults: faults)]
    }

    private func faults(_ context: FsckContext) async throws -> [FsckFault] {
        let partitions = try await FsckPartitions.read(on: context.pool)
        let from = Timestamp(seconds: (context.now.day - context.plan.factRetentionDays) * 86_400)
        let counted = try await context.look(countedDays(from: from, to: context.now)).map { try $0.decode(Int64.self) }
        let state = try await LedgerGenerations.read(on: context.pool)
        let generations = try await PartitionStatements.generations(on: context.pool)
        let missing = (state.oldest...state.current).map { "attemptledger_\($0)" }.filter { !generations.contains($0) }
        return partitions.faults(plan: context.plan, countedDays: Set(counted), now: context.now)
            + missing.map { FsckFault("the ledger's generation \($0) has no table") }
    }

    private func countedDays(from: Timestamp, to: Timestamp) -> Query {
        """
        SELECT floor(extract(epoch FROM minute) / 86400)::bigint FROM attemptRollups
        WHERE minute >= \(from) AND minute < \(to) GROUP BY 1 HAVING sum(attempts) <> 0
        """
    }
}
