public import PushContract

/// An activity that the app starts itself: the arguments of `Activity.request(attributes:content:pushType:)`, with `pushType: .token`.
public struct ActivityRequest: Sendable, Hashable {
    /// Without an instance: the server did not start it.
    public var attributes: MatchActivityAttributes
    /// What the server answered to the follow.
    public var state: UnifiedDisplayState

    /// For `ActivityContent(state:staleDate:)`: half an hour after the state was made, as in the server's pushes.
    public var staleDate: Timestamp { Timestamp(seconds: state.updatedAt) + LifecycleManager.staleAfter }

    /// The activity of a match; nil unless the match is live.
    init?(matchId: String, phase: String?, state: UnifiedDisplayState?) {
        guard let state, let phase, ["live", "break", "interrupted"].contains(phase) else { return nil }
        attributes = MatchActivityAttributes(matchId: matchId, title: state.title, event: state.event)
        self.state = state
    }
}
