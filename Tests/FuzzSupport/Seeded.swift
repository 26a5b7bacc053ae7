/// SplitMix64: the same seed gives the same numbers on every machine.
package struct Seeded: Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// Below `bound`; 0 if that is 0.
    package mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return bound <= 0 ? 0 : Int(mixed % UInt64(bound))
    }

    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[next(elements.count)] }
}
