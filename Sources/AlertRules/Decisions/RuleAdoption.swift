/// Adopts a rule that is new, or whose version changed: a new alert state, folded over the existing history.
///
/// `AlertChanges` decides about the alerts of the former version: one whose group fires under the new version goes on, and any other is
/// resolved with the reason `rule_changed`.
package enum RuleAdoption {
    /// The transitions of a fold over the past that are stored and notified: none of alerts that ended before the rule existed; of one that
    /// still fires, its beginning.
    package static func announced(_ fold: Fold) -> [Transition] {
        guard fold.state.open != nil else { return [] }
        return fold.transitions.last { $0.kind == .fired }.map { [$0] } ?? []
    }
}
