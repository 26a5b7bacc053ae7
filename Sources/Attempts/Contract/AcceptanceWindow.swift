package import PushContract

/// From when to when an attempt's `attemptedAt` is accepted.
///
/// The lower bound is what makes the ledger's promise hold: an identical resend that comes after its ledger entry expired (8 days at
/// least) is too old to be accepted, so it can never make a second row.
package struct AcceptanceWindow: Sendable {
    package let earliest: Timestamp
    package let latest: Timestamp
    private let explanation: String

    /// What the API accepts: 7 days back, 5 minutes ahead.
    package static func live(now: Timestamp) -> AcceptanceWindow {
        AcceptanceWindow(
            earliest: now - .seconds(7 * 86_400),
            latest: now + .seconds(300),
            explanation: "from 7 days ago to 5 minutes ahead; older history goes in with `pushwatch attempts import`"
        )
    }

    /// What an import accepts: as far back as facts are kept.
    package static func history(now: Timestamp, retention: Duration) -> AcceptanceWindow {
        AcceptanceWindow(
            earliest: now - retention,
            latest: now + .seconds(300),
            explanation: "within the \(retention.components.seconds / 86_400) days that attempts are kept, at most 5 minutes ahead"
        )
    }

    func check(_ moment: Timestamp) throws(AttemptFault) {
        guard moment < earliest || moment > latest else { return }
        let which = moment < earliest ? "too old" : "in the future"
        throw AttemptFault("attempted_at_out_of_range", .attemptedAt, "`attemptedAt` \(moment) is \(which): accepted is \(explanation)")
    }
}
