/// SplitMix64 (Steele, Lea, Flood 2014): a small pseudorandom generator. The same seed gives the same numbers on every machine. Not for
/// secrets.
package struct SplitMix64: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// In `0..<limit`; `limit` is above 0.
    package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// True once in `chance` draws, on average.
    package mutating func hits(oneIn chance: Int) -> Bool { below(chance) == 0 }

    /// In [0, 1), with 53 random bits.
    package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
