/// Faults of real feeds, injected into a replay.
package enum ReplayFault: String, Sendable, Hashable, CaseIterable {
    /// Some states arrive several deliveries late.
    case late
    /// Some arrive twice.
    case duplicate
    /// Neighbours change places.
    case reorder
    /// A delivery is reported wrongly and put right with the next state.
    case correct
    /// Several states in a row are never sent.
    case gap
    /// The feed falls silent for a while, then sends what it has.
    case stall
}

/// A small deterministic generator (SplitMix64): the same seed, the same faults, on every machine.
struct ReplayRandom {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
    mutating func hits(oneIn chance: Int) -> Bool { below(chance) == 0 }
}
