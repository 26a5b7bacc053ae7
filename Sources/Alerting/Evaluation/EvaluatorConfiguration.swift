/// How rules are evaluated.
package struct EvaluatorConfiguration: Sendable {
    /// How long after its end a minute counts as complete: rows that arrive within this time are not late.
    package var lag: Duration
    /// How much longer rules wait for a minute of which a writer reports uncommitted outcomes, at most.
    var writerTimeout: Duration
    /// Closed minutes that are folded again each time, for rows that arrived later than that.
    var recomputeMinutes: Int
    /// How long a silent holder keeps the lease; another instance takes over after that. With `pollInterval` at most 15 s.
    package var leaseDuration: Duration
    /// How often the lease is extended and the files are checked for changes.
    package var pollInterval: Duration
    /// Minutes without attempts after which a firing alert is marked as without data.
    var noDataAfterMinutes: Int
    /// Days of history over which a new rule is folded; a baseline has its own.
    var initialLookbackDays: Int
    /// Apps that a rule by app is evaluated for, at most: those with the most attempts. The others are one group, `other`.
    package var maxApps: Int
    /// How long the alerts of a rule that begin together may wait for their impact.
    package var impactTime: Duration
    /// How long reading the attempts of one alert may take.
    package var sampleTime: Duration

    package init(
        lag: Duration = .seconds(60),
        writerTimeout: Duration = .seconds(600),
        recomputeMinutes: Int = 10,
        leaseDuration: Duration = .seconds(10),
        pollInterval: Duration = .seconds(2),
        noDataAfterMinutes: Int = 30,
        initialLookbackDays: Int = 14,
        maxApps: Int = 1000,
        impactTime: Duration = .seconds(2),
        sampleTime: Duration = .seconds(2)
    ) {
        self.lag = lag
        self.writerTimeout = writerTimeout
        self.recomputeMinutes = recomputeMinutes
        self.leaseDuration = leaseDuration
        self.pollInterval = pollInterval
        self.noDataAfterMinutes = noDataAfterMinutes
        self.initialLookbackDays = initialLookbackDays
        self.maxApps = maxApps
        self.impactTime = impactTime
        self.sampleTime = sampleTime
    }
}
