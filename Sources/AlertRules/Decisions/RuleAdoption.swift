/// Adopts a rule that is new, or whose version changed: a new alert state, folded over the existing history.
///
/// What becomes of the former version's alerts is decided where they are stored: an alert of a group that fires under the new
/// version goes on, and any other is resolved with the reason `rule_changed`.
package enum RuleAdoption {
    /// Of all that a fold over the past found: what fired and ended before the rule existed is discarded; what lasts is
    /// announced at once, with its true beginning.
    package static func announced(_ fold: Fold) -> [Transition] {
        guard fold.state.open != nil else { return [] }
        return fold.transitions.last { $0.kind == .fired }.map { [$0] } ?? []
    }
}
