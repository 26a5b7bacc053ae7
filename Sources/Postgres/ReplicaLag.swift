/// How old what a replica shows is, at most: what the primary had written at a moment, and which of that the replica has replayed.
///
/// Counted by this process's clock alone, from the question to the primary: other clocks and quiet times do not matter.
struct ReplicaLag {
    private static let mostSamples = 4_096

    private var samples: [(position: Int64, at: ContinuousClock.Instant)] = []
    /// The replica shows everything that was committed until then; nil: not known, or not so any more.
    private(set) var shownUntil: ContinuousClock.Instant?

    /// - Parameter position: where the primary's WAL ended, asked at `moment`.
    mutating func observe(primary position: Int64, at moment: ContinuousClock.Instant) {
        // Another primary, which has less: what the samples say is of a history that is no more.
        if let last = samples.last, position < last.position { forget() }
        if samples.count < Self.mostSamples { samples.append((position, moment)) }
    }

    /// - Parameter position: what the replica has replayed, asked after the last sample.
    mutating func observe(replica position: Int64) {
        guard let index = samples.lastIndex(where: { $0.position <= position }) else { return }
        shownUntil = samples[index].at
        samples.removeFirst(index + 1)
    }

    mutating func forget() {
        samples = []
        shownUntil = nil
    }
}
