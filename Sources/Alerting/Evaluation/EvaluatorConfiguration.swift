/// How rules are evaluated.
package struct EvaluatorConfiguration: Sendable {
    /// How long after its end a minute counts as complete: the time rows may be late without being late.
    package var lag: Duration
    /// How much longer a minute is waited for whose outcomes a writer says it holds: as long as rows that come later are still looked at.
    var writerTimeout: Duration
    /// Closed minutes that are folded anew each time, for rows that came later still.
    var recomputeMinutes: Int
    /// How long a silent holder keeps the lease; another instance takes over after that. With `pollInterval` at most 15 s.
    package var leaseDuration: Duration
    /// How often the lease is extended and the files are looked at.
    package var pollInterval: Duration
    /// Minutes without attempts after which a firing alert is marked as without data.
    var noDataAfterMinutes: Int
    /// Days of history a new rule looks at; a baseline says for itself.
    var initialLookbackDays: Int
    /// Apps that a rule by app is evaluated for, at most: those with the most attempts. The others are one group, `other`.
    package var maxApps: Int
    /// How long the alerts of a rule that begin together may wait for the look at who is affected.
    package var impactTime: Duration
    /// How long the attempts of one alert are looked through for who is affected.
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
