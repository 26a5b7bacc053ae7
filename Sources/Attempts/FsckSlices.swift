import PushContract

/// Cuts what is checked into pieces of which one statement takes a moment.
enum FsckSlices {
    /// Whole hours, the last one cut at `to`.
    static func hours(from: Timestamp, to: Timestamp) -> [Range<Timestamp>] {
        stride(from: from.seconds, to: to.seconds, by: 3600).map { start in
            Timestamp(seconds: start)..<min(Timestamp(seconds: start + 3600), to)
        }
    }

    /// Stretches of the ledger's keys, by their first 16 bits, of about 100,000 keys each.
    static func keys(estimate: Int64) -> [Range<Int>] {
        let count = Int(min(max(estimate / 100_000, 16), 4096))
        return (0..<count).map { 65_536 * $0 / count..<65_536 * ($0 + 1) / count }
    }
}
