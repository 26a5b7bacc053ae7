import PushContract

/// What activities of matches have in common.
enum MatchSubject {
    /// The name of the app's `ActivityAttributes` type for matches.
    static let attributesType = String(describing: MatchActivityAttributes.self)
}
