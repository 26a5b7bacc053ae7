import PushContract

/// A match, or whatever else Live Activities are about, in one line.
struct SubjectSummary: Hashable {
    /// The matchId; for others `<attributesType>/<activityId>`.
    var subject: String
    var title: String?
    var status: String?
    /// Of a match; for others `live` or `ended`.
    var phase: String
    var isOver: Bool
    var updatedAt: Timestamp
    var followers: Int
    var pending: Int
    var active: Int
    var ended: Int
    /// Active ones that have not been sent the newest state.
    var behind: Int
    /// Since when the source of a live subject has confirmed nothing; nil while it does, and for subjects without a source.
    var feedSilentSince: Timestamp?
}

/// Live Activity pushes of the last minutes, with every subject together.
struct ActivityPushes: Hashable {
    static let minutes: Int64 = 15

    var attempts: Int64
    /// By reason code.
    var failures: [String: Int64]
    var meanLatencyMs: Int64?
}

/// Everything the page of matches shows.
struct MatchesData {
    var subjects: [SubjectSummary]
    var pushes: ActivityPushes
}

/// One subject in full.
struct SubjectData {
    /// Activities in the same state.
    struct StatusCount: Hashable {
        var status: String
        var endReason: String?
        var endCause: String?
        var count: Int
    }

    /// How far the newest state is delivered to its followers.
    struct FanOut: Hashable {
        var builtAt: Timestamp
        var reached: Int
        var waiting: Int
        /// From the building of the state to its push, in seconds; nil before the first push.
        var median: Double?
        var slowest99: Double?
        var slowest: Double?
    }

    /// Starts of the last hour.
    struct Starts: Hashable {
        var claimed: Int
        var accepted: Int
        var rejected: Int
        var unknown: Int
        /// Answered by a device with its update token.
        var adopted: Int
        /// From the start to the token, in seconds.
        var medianToToken: Double?
    }

    /// A follower whose card is not as it should be.
    struct Laggard: Hashable {
        var uid: String
        var deviceId: String
        var status: String
        var problem: String
        var since: Timestamp
    }

    var summary: SubjectSummary
    /// The state that is shown, as it was stored: canonical JSON.
    var state: String
    var seq: Int64
    /// The instance that sends to its followers, and when its lease expires; nil when there is none.
    var owner: String?
    var leaseUntil: Timestamp?
    /// What its source does; nil: it has none that repeats states.
    var feed: String?
    var statusCounts: [StatusCount]
    var fanOut: FanOut
    var starts: Starts
    var laggards: [Laggard]
}
