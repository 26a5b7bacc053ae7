/// Refusals that may be those of the connection alone, so that the request is repeated on a younger one. Pure.
enum APNsRepeatRule {
    /// The connection of the second request must have been opened after this; nil: the refusal is final.
    ///
    /// - Parameters:
    ///   - trustedAge: how long a connection is taken to know the apps of its team.
    static func connectionOpenedAfter(
        _ code: String?,
        refusedOn opened: ContinuousClock.Instant,
        trustedAge: Duration,
        now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant? {
        switch code {
        // APNs goes on refusing on a connection where it refused a provider token, and on one that is bound to another key.
        case "ExpiredProviderToken", "UnrelatedKeyIdInToken": opened
        // An app that was added to the team is refused on connections from before, for as long as they last.
        case "TopicDisallowed" where now - opened > trustedAge: now - trustedAge
        default: nil
        }
    }
}
