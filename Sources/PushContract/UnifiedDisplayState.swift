/// What a followed match shows on a lock screen, in a widget and in the app: one state, the same for every follower.
///
/// It is the `content-state` of the match's Live Activity and the answer of `GET /matches/{matchId}`. The server formats every text;
/// a client shows them as they are. It holds integers, strings and booleans only, so that a default `JSONDecoder` reads it (a `Date`
/// would not survive: ActivityKit counts from 2001). Fields a version does not know are ignored, so fields are only ever added.
///
/// Encoded it has at most 2,560 bytes; the server leaves out recent balls, then the bowler, then shortens names to keep that.
public struct UnifiedDisplayState: Sendable, Hashable, Codable {
    /// The version of this shape: 1.
    public var v: Int
    /// The match, as its feed names it.
    public var matchId: String
    /// Grows strictly with every change of the state of this match.
    public var seq: Int64
    /// `scheduled`, `live`, `break`, `interrupted`, `stumps`, `ended` or `abandoned`. A string, so that a later phase does not break older
    /// apps.
    public var phase: String
    /// The two sides: `RR v KKR`.
    public var title: String
    /// The competition.
    public var event: String?
    /// The state of the match in one line: `KKR need 40 from 24`.
    public var status: String
    /// In the order of play; super overs included.
    public var innings: [Innings]
    /// The two at the crease; empty between innings and after the match.
    public var batters: [Batter]
    /// Who bowls.
    public var bowler: Bowler?
    /// The last six deliveries, oldest first: `1`, `·`, `W`, `wd`, `2lb`. Empty when the feed knows scores only.
    public var recent: [String]
    /// Runs an over so far, two decimals.
    public var crr: String?
    /// Runs an over that are needed, two decimals.
    public var rrr: String?
    /// The event that the card shows; absent if there is none.
    public var key: Key?
    /// 0: made from scores alone. 1: from deliveries as well.
    public var tier: Int
    /// When this state was made, or renewed by a heartbeat, Unix seconds; grows strictly. The same number is the push's `aps.timestamp`.
    public var updatedAt: Int64

    /// One innings.
    public struct Innings: Sendable, Hashable, Codable {
        /// From 1.
        public var no: Int
        /// Short name of the side batting.
        public var team: String
        /// Runs, extras and penalties included.
        public var runs: Int
        /// Wickets down.
        public var wickets: Int
        /// `16.3`: complete overs and legal balls.
        public var overs: String
        /// Runs needed to win.
        public var target: Int?
        /// True once it is over; absent before.
        public var closed: Bool?
        /// True for an innings of a super over; absent otherwise.
        public var superOver: Bool?

        /// Makes an innings.
        public init(
            no: Int,
            team: String,
            runs: Int,
            wickets: Int,
            overs: String,
            target: Int? = nil,
            closed: Bool? = nil,
            superOver: Bool? = nil
        ) {
            self.no = no
            self.team = team
            self.runs = runs
            self.wickets = wickets
            self.overs = overs
            self.target = target
            self.closed = closed
            self.superOver = superOver
        }
    }

    /// A batter at the crease.
    public struct Batter: Sendable, Hashable, Codable {
        /// As the feed writes it; may be shortened.
        public var name: String
        /// Runs and balls: `85 (50)`.
        public var line: String
        /// True for the one who faces the next ball; absent otherwise.
        public var strike: Bool?

        /// Makes a batter.
        public init(name: String, line: String, strike: Bool? = nil) {
            self.name = name
            self.line = line
            self.strike = strike
        }
    }

    /// Who bowls the current over.
    public struct Bowler: Sendable, Hashable, Codable {
        /// As the feed writes it.
        public var name: String
        /// Overs, maidens, runs and wickets: `3-0-38-1`.
        public var line: String

        /// Makes a bowler.
        public init(name: String, line: String) {
            self.name = name
            self.line = line
        }
    }

    /// The event that a state shows.
    public struct Key: Sendable, Hashable, Codable {
        /// `wicket`, `hundred`, `innings_end` and so on; docs/score-feed.md lists them.
        public var type: String
        /// 1 is the most important.
        public var priority: Int
        /// The sentence to show.
        public var text: String
        /// Where in the innings: `16.1`.
        public var ball: String?

        /// Makes a key event.
        public init(type: String, priority: Int, text: String, ball: String? = nil) {
            self.type = type
            self.priority = priority
            self.text = text
            self.ball = ball
        }
    }

    /// Makes a state of version 1.
    public init(
        matchId: String,
        seq: Int64,
        phase: String,
        title: String,
        event: String? = nil,
        status: String,
        innings: [Innings] = [],
        batters: [Batter] = [],
        bowler: Bowler? = nil,
        recent: [String] = [],
        crr: String? = nil,
        rrr: String? = nil,
        key: Key? = nil,
        tier: Int = 0,
        updatedAt: Int64
    ) {
        v = 1
        self.matchId = matchId
        self.seq = seq
        self.phase = phase
        self.title = title
        self.event = event
        self.status = status
        self.innings = innings
        self.batters = batters
        self.bowler = bowler
        self.recent = recent
        self.crr = crr
        self.rrr = rrr
        self.key = key
        self.tier = tier
        self.updatedAt = updatedAt
    }
}
