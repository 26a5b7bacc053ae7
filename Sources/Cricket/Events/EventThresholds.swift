/// What counts as being on fire, and as a big over.
package struct EventThresholds: Sendable, Hashable {
    /// A batter is on fire from so many balls …
    var fireBalls = 15
    /// … at so many runs per hundred balls.
    var fireStrikeRate = 200
    /// A bowler is on fire from so many wickets …
    var fireWickets = 3
    /// … for at most so many runs per six balls, in hundredths.
    var fireEconomy = 600
    /// Runs of one over, all extras included.
    var bigOverRuns = 20

    package init() {}
}
