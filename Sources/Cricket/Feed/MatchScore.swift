package import PushContract

/// The state of a match as sent by a score feed: always the whole state, never a difference (docs/score-feed.md).
package struct MatchScore: Sendable, Hashable, Encodable {
    /// Four, and eight super overs of two.
    static let maximumInnings = 20
    /// A feed may send more balls than the last 30 that are kept.
    static let maximumBalls = 120
    private static let clockTolerance = Duration.seconds(300)

    package struct Team: Sendable, Hashable, Encodable {
        package var name: String
        /// What fits on a lock screen: `RR`. Innings and results name a side by it.
        package var short: String
    }

    package var matchId: String
    /// Rises with every state the feed sends; what is not newer is ignored.
    package var sequence: Int64?
    /// When the feed knew this; orders states where there is no `sequence`. Not later than a little after the present.
    package var updatedAt: Timestamp
    package var title: String?
    /// The competition: `Harbour Cup · Match 4`.
    package var event: String?
    package var teams: [Team]
    package var phase: MatchPhase
    /// A line to show instead of ours: `Rain, inspection at 18:30`.
    package var status: String?
    package var startsAt: Timestamp?
    /// From 1, the most important, to 9: what is started on a device that follows more than it may start.
    package var priority: Int?
    package var ballsPerOver: Int?
    package var innings: [InningsScore]
    /// The latest balls, oldest first. Omitted by feeds with scores only; then there are no events about balls.
    package var balls: [Ball]?
    package var result: MatchResult?

    package init(
        matchId: String,
        sequence: Int64? = nil,
        updatedAt: Timestamp,
        title: String? = nil,
        event: String? = nil,
        teams: [Team],
        phase: MatchPhase,
        status: String? = nil,
        startsAt: Timestamp? = nil,
        priority: Int? = nil,
        ballsPerOver: Int? = nil,
        innings: [InningsScore] = [],
        balls: [Ball]? = nil,
        result: MatchResult? = nil
    ) {
        self.matchId = matchId
        self.sequence = sequence
        self.updatedAt = updatedAt
        self.title = title
        self.event = event
        self.teams = teams
        self.phase = phase
        self.status = status
        self.startsAt = startsAt
        self.priority = priority
        self.ballsPerOver = ballsPerOver
        self.innings = innings
        self.balls = balls
        self.result = result
    }
}

extension MatchScore {
    var ballsInOver: Int { ballsPerOver ?? 6 }
    package func innings(_ number: Int) -> InningsScore? { innings.first { $0.number == number } }
    /// The innings being played, or played last.
    var currentInnings: InningsScore? { innings.last }
    /// Play has begun, or is over.
    package var hasStarted: Bool { phase != .scheduled }
    var displayTitle: String { title ?? "\(teams[0].short) v \(teams[1].short)" }

    /// Over by its own word, or because a later innings has begun.
    package func isClosed(_ number: Int) -> Bool {
        guard let innings = innings(number) else { return false }
        return innings.isClosed || number < (currentInnings?.number ?? 0)
    }

    /// Whether this state is newer than another of the same match: by `sequence` where both have one, else by `updatedAt`.
    ///
    /// Many clocks count whole seconds, in which a match may go on and end. Of two states of one moment play decides.
    package func supersedes(_ other: MatchScore) -> Bool {
        if let own = sequence, let others = other.sequence { return own > others }
        guard updatedAt == other.updatedAt else { return updatedAt > other.updatedAt }
        return !progress.lexicographicallyPrecedes(other.progress) && !isSame(as: other)
    }

    /// Throws when the state is dated later than a source's clock may be fast: until then it would be the newest.
    package func checkClock(now: Timestamp) throws(FeedError) {
        guard updatedAt > now + MatchScore.clockTolerance else { return }
        throw FeedError(
            pointer: "/updatedAt",
            detail: "\"updatedAt\" is \(updatedAt.rfc3339), more than 5 minutes after the server's time, \(now.rfc3339). "
                + "Send when the feed knew this state, and correct the feed's clock or the offset."
        )
    }

    /// Whether the states differ only in `sequence` and `updatedAt`.
    func hasSameContent(as other: MatchScore) -> Bool {
        var copy = self
        copy.sequence = other.sequence
        copy.updatedAt = other.updatedAt
        return copy == other
    }
}
