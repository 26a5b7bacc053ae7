package import PushContract

/// Which partitions should exist at a moment, and which may be dropped. Pure arithmetic on UTC days and months.
package struct PartitionPlan: Sendable {
    /// How long attempts are kept.
    package var factRetentionDays: Int64 = 90
    /// How long rollups are kept.
    package var rollupRetentionDays: Int64 = 400
    /// How many days ahead partitions are made.
    var daysAhead: Int64 = 5
    /// How many days back attempts are accepted, and so how many day partitions must exist before today.
    package var daysBack: Int64 = 8
    /// How long a ledger generation takes new ids, at least. Eight live next to it, so an id is known for at least eight days.
    static let generationSeconds: Int64 = 86_400

    package init() {}

    /// One partition: a name and its half-open range.
    package struct Partition: Sendable, Hashable {
        package var name: String
        package var from: Timestamp
        package var to: Timestamp

        /// The partition of the latencies for a month of rollups.
        package var latencies: Partition {
            var partition = self
            partition.name = "attemptLatencies_" + name.suffix(6)
            return partition
        }
    }

    package func facts(now: Timestamp) -> [Partition] {
        let today = now.day
        return (today - daysBack...today + daysAhead).map(PartitionPlan.fact(day:))
    }

    package func rollups(now: Timestamp) -> [Partition] {
        months(from: now.day - daysBack, through: now.day + daysAhead + 31)
    }

    /// Partitions whose youngest possible row is past its retention.
    package func isExpired(factDay: Int64, now: Timestamp) -> Bool { factDay < now.day - factRetentionDays }
    package func isExpired(rollup: Partition, now: Timestamp) -> Bool { rollup.to.day <= now.day - rollupRetentionDays }

    func generationIsDue(rotatedAt: Timestamp, now: Timestamp) -> Bool {
        now - rotatedAt >= .seconds(PartitionPlan.generationSeconds)
    }

    package static func fact(day: Int64) -> Partition {
        let from = Timestamp(seconds: day * 86_400)
        return Partition(
            name: "notificationDeliveryAttempts_" + from.compactDate.prefix(8),
            from: from,
            to: Timestamp(seconds: (day + 1) * 86_400)
        )
    }

    package func months(from first: Int64, through last: Int64) -> [Partition] {
        var partitions: [Partition] = []
        for day in first...last {
            let partition = PartitionPlan.rollup(day: day)
            if partitions.last != partition { partitions.append(partition) }
        }
        return partitions
    }

    package static func rollup(day: Int64) -> Partition {
        let date = Timestamp(seconds: day * 86_400).rfc3339
        let month = date.prefix(7)
        let from = Timestamp(rfc3339: "\(month)-01T00:00:00Z")!
        // 32 days on from the first is in the next month.
        let next = Timestamp(seconds: from.seconds + 32 * 86_400).rfc3339.prefix(7)
        return Partition(
            name: "attemptRollups_" + month.filter(\.isNumber),
            from: from,
            to: Timestamp(rfc3339: "\(next)-01T00:00:00Z")!
        )
    }
}

extension Timestamp {
    /// Whole days since 1970 (UTC).
    package var day: Int64 { minute >= 0 ? minute / 1440 : (minute - 1439) / 1440 }

    fileprivate var compactDate: String { rfc3339.filter(\.isNumber) }
}
