import Postgres
import PushContract

/// The partitions that exist, as the catalogue lists them, and what is wrong with them.
struct FsckPartitions: Sendable {
    var facts: [PartitionPlan.Partition] = []
    var rollups: [PartitionPlan.Partition] = []
    var latencies: [PartitionPlan.Partition] = []
    /// Bytes of each, by name.
    var sizes: [String: Int64] = [:]
    /// Partitions that should not be as they are: a default one, one that is half detached.
    var odd: [String] = []
    /// Half detached ones: fine when their time is over, and a reader holds them.
    var leaving: [PartitionPlan.Partition] = []

    static func read(on session: some PostgresSession) async throws -> FsckPartitions {
        let rows = try await session.query(
            """
            SELECT parent.relname::text, child.relname::text, pg_get_expr(child.relpartbound, child.oid), inhdetachpending,
                   coalesce(pg_relation_size(child.oid), 0)
            FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid JOIN pg_class AS parent ON parent.oid = inhparent
            WHERE inhparent IN ('notificationDeliveryAttempts'::regclass, 'attemptRollups'::regclass, 'attemptLatencies'::regclass)
            """
        )
        var partitions = FsckPartitions()
        for row in rows {
            let (parent, name, bounds, isLeaving, size) = try row.decode((String, String, String, Bool, Int64).self)
            partitions.sizes[name] = size
            guard let partition = parse(name, bounds) else {
                partitions.odd.append("\(name) is not a partition of ours: \(bounds)")
                continue
            }
            if isLeaving {
                partitions.leaving.append(partition)
                continue
            }
            switch parent {
            case "attemptrollups": partitions.rollups.append(partition)
            case "attemptlatencies": partitions.latencies.append(partition)
            default: partitions.facts.append(partition)
            }
        }
        if let distributed = try await DistributedSizes.read(on: session) { partitions.sizes.merge(distributed) { $1 } }
        return partitions
    }

    /// `FOR VALUES FROM ('2026-03-10 00:00:00+00') TO ('2026-03-11 00:00:00+00')`, in UTC as all our sessions are.
    static func parse(_ name: String, _ bounds: String) -> PartitionPlan.Partition? {
        let moments = bounds.split(separator: "'").compactMap { piece in
            piece.hasSuffix("+00") ? Timestamp(rfc3339: piece.dropLast(3).replacing(" ", with: "T") + "Z") : nil
        }
        guard moments.count == 2 else { return nil }
        return PartitionPlan.Partition(name: name, from: moments[0], to: moments[1])
    }

    /// Pure: which days and months are missing.
    ///
    /// - Parameter countedDays: days without a partition that the rollups have attempts of. An import makes only the days it needs, so a
    ///   day without a partition is a fault only where live attempts go or where there have been attempts.
    func faults(plan: PartitionPlan, countedDays: Set<Int64>, now: Timestamp) -> [FsckFault] {
        var faults = odd.map { FsckFault($0) }
        for partition in leaving where partition.to.day > now.day - plan.factRetentionDays {
            faults.append(FsckFault("\(partition.name) is half detached: finish it with ALTER TABLE … DETACH PARTITION … FINALIZE"))
        }
        // Dropping waits for readers, never for days.
        for partition in facts where partition.to.day <= now.day - plan.factRetentionDays - 3 {
            faults.append(FsckFault("\(partition.name) is past its retention and still there: does partition maintenance run?"))
        }
        let present = Set(facts.map(\.from.day))
        let live = now.day - plan.daysBack...now.day + 2
        let oldest = present.min() ?? now.day
        let counted = countedDays.filter { $0 > now.day - plan.factRetentionDays }
        let expected = Set(live).union(counted)
        let missing = expected.subtracting(present).sorted()
        let lost = missing.filter { $0 < oldest && !live.contains($0) }
        if let fault = lostHistory(lost) { faults.append(fault) }
        for day in missing.dropFirst(lost.count) {
            let what = countedDays.contains(day) ? "although the rollups count attempts of that day" : "although attempts may come for it"
            faults.append(FsckFault("no attempts partition for \(PartitionPlan.date(day)), \(what)"))
        }
        for partition in facts where partition.to != partition.from + .seconds(86_400) || partition.name != named(partition.from) {
            faults.append(FsckFault("\(partition.name) holds \(partition.from) to \(partition.to), not the day its name says"))
        }
        // Months between, which an import of old history made no days of, are no fault either.
        let expectedMonths = Set(present.union(expected).map(PartitionPlan.rollup(day:))).sorted { $0.from < $1.from }
        for (partitions, what) in [(rollups, "rollup"), (latencies, "latency")] {
            let months = Set(partitions.map(\.from))
            for month in expectedMonths where !months.contains(month.from) {
                faults.append(FsckFault("no \(what) partition for \(month.from.rfc3339.prefix(7))"))
            }
        }
        return faults
    }

    /// One fault for all of them: a retention that was raised has dropped them, too, and they may be hundreds.
    private func lostHistory(_ days: [Int64]) -> FsckFault? {
        guard let first = days.first, let last = days.last else { return nil }
        return FsckFault(
            "no attempts partition for \(days.count) of the days from \(PartitionPlan.date(first)) to \(PartitionPlan.date(last)), "
                + "before the oldest, although the rollups count attempts of them: dropped by hand, or by a shorter attempts.retentionDays"
        )
    }

    private func named(_ from: Timestamp) -> String { PartitionPlan.fact(day: from.day).name.lowercased() }
}

extension PartitionPlan {
    static func date(_ day: Int64) -> String { String(Timestamp(seconds: day * 86_400).rfc3339.prefix(10)) }
}
