import Postgres
package import PushContract

/// The days of attempts, cut into pieces of which one statement takes a moment: by how large a day's partition is.
struct FactSlices {
    /// A piece of time, and whether there is a partition for it.
    struct Slice: Sendable {
        var range: Range<Timestamp>
        var hasPartition: Bool
    }

    /// In a piece, about.
    static let usualAttempts = 100_000

    /// Ascending, without gap, from the oldest partition to the last closed minute.
    let all: [Slice]

    static func read(_ context: FsckContext) async throws -> FactSlices {
        let partitions = try await FsckPartitions.read(on: context.pool)
        return FactSlices(partitions.facts, sizes: partitions.sizes, until: context.closedUntil)
    }

    init(_ partitions: [PartitionPlan.Partition], sizes: [String: Int64], until end: Timestamp) {
        var slices: [Slice] = []
        for partition in partitions.sorted(by: { $0.from < $1.from }) where partition.from < end {
            if let last = slices.last?.range.upperBound, last < partition.from {
                slices.append(Slice(range: last..<partition.from, hasPartition: false))
            }
            let pieces = FactSlices.pieces(bytes: sizes[partition.name] ?? 0)
            let seconds = (partition.to.seconds - partition.from.seconds) / pieces
            for start in stride(from: partition.from.seconds, to: min(partition.to, end).seconds, by: Int64.Stride(seconds)) {
                let piece = Timestamp(seconds: start)..<min(Timestamp(seconds: start + seconds), end)
                slices.append(Slice(range: piece, hasPartition: true))
            }
        }
        all = slices
    }

    /// Those with attempts that are to be checked.
    func within(_ days: Int64, before now: Timestamp) -> [Range<Timestamp>] {
        let start = FactSlices.start(of: days, before: now)
        return all.filter { $0.hasPartition && $0.range.lowerBound >= start }.map(\.range)
    }

    static func start(of days: Int64, before now: Timestamp) -> Timestamp { Timestamp(seconds: (now.day - days) * 86_400) }

    /// As many as usual a piece; never less than a minute of them. Where the size is not known, an hour.
    private static func pieces(bytes: Int64) -> Int64 {
        if bytes == 0 { return 1 }
        return [1, 2, 4, 8, 24, 48, 96, 288, 1440].first { bytes / $0 <= 40 << 20 } ?? 1440
    }
}

extension FsckContext {
    /// Pieces of the days that are checked, with what is still being written.
    package func attemptSlices() async throws -> [Range<Timestamp>] {
        let partitions = try await FsckPartitions.read(on: pool)
        let end = partitions.facts.map(\.to).max() ?? now
        return FactSlices(partitions.facts, sizes: partitions.sizes, until: end).within(days, before: now)
    }
}
