/// The attributes type of a followed match.
///
/// App, widget extension and server share this one definition; in the app add `extension MatchActivityAttributes: ActivityAttributes {}`.
/// Its name is the `attributes-type` of a start; its values are the start's `attributes`, which never change while the activity runs.
public struct MatchActivityAttributes: Sendable, Hashable, Codable {
    /// The dynamic part: the `content-state` of every push, and what `GET /matches/{matchId}` answers. A default `JSONDecoder` reads it.
    public typealias ContentState = UnifiedDisplayState

    /// The match, as its feed names it.
    public var matchId: String
    /// The two sides: `RR v KKR`; absent when the feed had none at the start.
    public var title: String?
    /// The competition.
    public var event: String?
    /// The number of the server's start, from 1; posted with the update token. Absent if the app started the activity.
    public var instance: Int?

    /// Makes the static part.
    public init(matchId: String, title: String? = nil, event: String? = nil, instance: Int? = nil) {
        self.matchId = matchId
        self.title = title
        self.event = event
        self.instance = instance
    }
}
