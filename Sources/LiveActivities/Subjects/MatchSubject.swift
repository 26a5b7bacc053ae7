import PushContract

/// What activities of matches have in common.
package enum MatchSubject {
    /// The name of the app's `ActivityAttributes` type for matches.
    package static let attributesType = String(describing: MatchActivityAttributes.self)
}
