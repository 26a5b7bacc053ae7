/// How fast a match is played again.
package struct ReplayPace: Sendable, Hashable {
    /// Between two deliveries, in match time.
    package var millisecondsPerBall: Int64 = 40_000
    /// Between two innings, in match time.
    package var breakSeconds: Int64 = 1_200
    /// Between the innings of super overs.
    package var shortBreakSeconds: Int64 = 300
    /// How much faster than match time.
    package var speed: Int64 = 1
    /// The overs of a day's play, since match files do not record where a day ended; nil: the match has no breaks between days.
    package var oversPerDay: Int?
    /// From stumps to the next morning's first ball, in match time.
    package var nightSeconds: Int64 = 63_000

    package init(millisecondsPerBall: Int64 = 40_000, breakSeconds: Int64 = 1_200, shortBreakSeconds: Int64 = 300, speed: Int64 = 1) {
        self.millisecondsPerBall = millisecondsPerBall
        self.breakSeconds = breakSeconds
        self.shortBreakSeconds = shortBreakSeconds
        self.speed = speed
    }
}
