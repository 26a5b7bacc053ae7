/// The constants of `baseline/2` (docs/alert-semantics.md).
enum Baseline2 {
    /// Every window is tried, shortest first; `chance` is the multiple of the expectation that is granted to chance alone.
    static let rungs: [(minutes: Int, chance: Double)] = [(60, 2.3), (120, 2.3), (240, 2), (480, 1.7), (1440, 1.5)]
    static let slot = 5
    /// The worst slots of a window, without which it must be above the multiple.
    static let burst = 2
    /// Bad attempts of the newest part of a longer window.
    static let newestBad: Int64 = 2
    /// Attempts of a training day, and of all training days together.
    static let dayAttempts: Int64 = 50
    static let readyAttempts: Int64 = 700
    static let trainingDays = 7
    /// Days that are searched for those, the longest gap between them, and how many a group has that is not young.
    static let searchedDays: Int64 = 28
    static let longestGap: Int64 = 14
    static let youngDays = 14
    static let stratumDays = 3
    /// Attempts that it takes to decide about the end of an alert, and the chance at which a good run contradicts the fault.
    static let recoveryAttempts: Int64 = 30
    static let recoveryChance = 1e-4
    static let recoveredMultiple = 2.0
    static let reopenMinutes = 1440
    /// Days of an alert after which its level is the new baseline, days after which a new normal may be announced again, and what makes
    /// one.
    static let relearnDays: Int64 = 7
    static let announceDays: Int64 = 14
    static let newNormal = Fraction(2, 1)
    static let newNormalBad = 20.0
    /// A reference is in force an hour after its day has ended, so that late attempts are in it.
    static let delay = 60
    /// Days before a minute on which its decision may depend: what is compared with a new normal, and the training days of that.
    static let knownDays = Int(announceDays + searchedDays)
    /// Differences below this part are rounding, not observation: exactly 3.0 × is not above 3 ×.
    static let rounding = 1 + 1e-9
}
