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
