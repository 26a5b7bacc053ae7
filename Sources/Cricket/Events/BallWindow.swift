/// The last 30 balls of a match, and for each bowler the number of consecutive wickets directly before them.
///
/// A hat-trick may span distant spells, so this number is kept when balls leave the window. A gap in the feed
/// clears both: the balls in it are unknown, so no event may span it.
package struct BallWindow: Sendable, Hashable {
    package static let size = 30

    package private(set) var balls: [Ball] = []
    /// Credited wickets on a bowler's last deliveries before the window; no entry is none.
    package private(set) var tails: [String: Int] = [:]

    package init(balls: [Ball] = [], tails: [String: Int] = [:]) {
        self.balls = Array(balls.suffix(BallWindow.size))
        self.tails = tails
    }

    /// What a feed's newest balls changed.
    package struct Change: Sendable, Hashable {
        /// New or corrected balls, oldest first; all of them are in the window.
        package var fresh: [Ball] = []
        var hadGap = false
    }

    /// Takes the feed's view of its latest balls. It replaces ours where they overlap, so corrections and retractions take hold.
    ///
    /// - Parameter isFirst: nothing was known of this match: its balls are history, not news.
    package mutating func take(_ all: [Ball], isFirst: Bool) -> Change {
        let known = Set(balls.map(\.position))
        let overlap = all.contains { known.contains($0.position) }
        // A feed reaches back before the window if it sends more balls than are kept, or took its last one back. Those are not new.
        let latest = overlap ? all.filter { $0.position >= balls[0].position } : all
        guard let first = latest.first else { return Change() }
        let older = balls.filter { $0.position < first.position }
        let isStart = balls.isEmpty && first.innings == 1 && first.number == 1
        let mayFollow = older.last.map { BallWindow.isNext(first, after: $0) } ?? (overlap || isStart)
        var change = Change(hadGap: !mayFollow && !isFirst)
        if !isFirst { change.fresh = fresh(latest, overlap: overlap, hadGap: change.hadGap) }
        if mayFollow {
            balls = older + latest
        } else {
            tails = [:]
            balls = latest
        }
        trim()
        change.fresh = change.fresh.filter { $0.position >= balls[0].position }
        return change
    }

    private static func isNext(_ ball: Ball, after last: Ball) -> Bool {
        ball.innings == last.innings ? ball.number == last.number + 1 : ball.innings == last.innings + 1 && ball.number == 1
    }

    /// Compares contents without numbers: all later balls are renumbered when a missing one is inserted, and did not happen again.
    private func fresh(_ latest: [Ball], overlap: Bool, hadGap: Bool) -> [Ball] {
        // Balls without history yield one event, that of the last one.
        guard let last = balls.last else { return hadGap ? latest.suffix(1) : latest }
        guard overlap else { return latest.filter { $0.position > last.position } }
        let difference = BallWindow.withoutNumbers(latest).difference(from: BallWindow.withoutNumbers(balls))
        return difference.insertions.compactMap { insertion -> Ball? in
            guard case .insert(let offset, _, _) = insertion else { return nil }
            return latest[offset]
        }
    }

    private static func withoutNumbers(_ balls: [Ball]) -> [Ball] {
        balls.map {
            var ball = $0
            ball.number = 0
            return ball
        }
    }

    private mutating func trim() {
        let excess = balls.count - BallWindow.size
        guard excess > 0 else { return }
        for ball in balls.prefix(excess) { tails[ball.bowler] = ball.hasCreditedWicket ? (tails[ball.bowler] ?? 0) + 1 : nil }
        balls.removeFirst(excess)
    }

    /// How many credited wickets in a row the bowler has with this delivery; 0 when it took none.
    package func run(endingAt ball: Ball) -> Int {
        let own = balls.filter { $0.bowler == ball.bowler && $0.position <= ball.position }
        let inWindow = own.reversed().prefix { $0.hasCreditedWicket }.count
        return inWindow == own.count ? inWindow + (tails[ball.bowler] ?? 0) : inWindow
    }

    /// The bowler's latest delivery.
    package func last(by bowler: String) -> Ball? { balls.last { $0.bowler == bowler } }

    /// The whole over this delivery belongs to, if its first ball is in the window; nil when it reaches back further.
    package func over(of ball: Ball) -> [Ball]? {
        let over = balls.filter { $0.innings == ball.innings && $0.over == ball.over && $0.position <= ball.position }
        guard let first = over.first else { return nil }
        let begins = first.number == 1 || balls.contains { $0.innings == first.innings && $0.number == first.number - 1 }
        return begins ? over : nil
    }
}
