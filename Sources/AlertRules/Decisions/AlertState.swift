/// An alert that is firing, by the data up to `AlertState.asOf`.
package struct FiringAlert: Sendable, Hashable, Codable {
    /// The first bad minute.
    package var startsAt: Minute
    /// The end of the minute that set it: the first minute after it.
    package var firedAt: Minute
    /// The newest minute at which the condition was met in full.
    package var lastSet: Minute
    package var evidence: Evidence
    /// The counts that met the condition at `lastSet`: what a recovery must contradict. Empty for what is not a share.
    package var proven = AttemptCounts()
    /// A baseline's shares as they were at the start, by which the alert is resolved.
    package var frozenShares: [FrozenShare]

    package init(
        startsAt: Minute,
        firedAt: Minute,
        lastSet: Minute,
        evidence: Evidence,
        proven: AttemptCounts = AttemptCounts(),
        frozenShares: [FrozenShare]
    ) {
        self.startsAt = startsAt
        self.firedAt = firedAt
        self.lastSet = lastSet
        self.evidence = evidence
        self.proven = proven
        self.frozenShares = frozenShares
    }
}

/// The healthy share of one stratum, kept for the length of an alert.
package struct FrozenShare: Sendable, Hashable, Codable {
    package var stratum: GroupKey
    package var share: Double

    package init(stratum: GroupKey, share: Double) {
        self.stratum = stratum
        self.share = share
    }
}

extension [FrozenShare] {
    var byStratum: [GroupKey: Double] { Dictionary(map { ($0.stratum, $0.share) }, uniquingKeysWith: { first, _ in first }) }
}

/// What was attempted since an alert ended.
package struct AttemptsSince: Sendable, Hashable, Codable {
    var counts = AttemptCounts()
    /// How many of the minutes had attempts.
    var minutes = 0

    mutating func add(_ minute: AttemptCounts) {
        counts = counts + minute
        if minute.attempts > 0 { minutes += 1 }
    }

    mutating func remove(_ minute: AttemptCounts) {
        counts = AttemptCounts(attempts: counts.attempts - minute.attempts, bad: counts.bad - minute.bad)
        if minute.attempts > 0 { minutes -= 1 }
    }
}

/// An alert that has recovered and may be opened again.
package struct ClosedAlert: Sendable, Hashable, Codable {
    package var alert: FiringAlert
    /// The closed minute that proved recovery.
    package var at: Minute
    /// Its end was proven: the fault would have been visible in the good run.
    var isProven = false
    /// What was attempted in the minutes after `at`, where that decides whether it is opened again.
    var since: AttemptsSince?

    package init(_ alert: FiringAlert, at minute: Minute) {
        self.alert = alert
        at = minute
    }
}

/// The state of one rule and group: a function of the data alone.
///
/// It may be stored as a checkpoint: folding from it has the same result as folding from the beginning.
package struct AlertState: Sendable, Hashable, Codable {
    /// The newest minute that was folded in; nil before the first.
    package var asOf: Minute?
    /// Nil when the alert is not firing.
    package var open: FiringAlert?
    /// The alert that ended last, as long as the rule opens it again.
    package var closed: ClosedAlert?
    /// What a baseline keeps of the group's earlier alerts; nil where there is nothing.
    var baseline: BaselineMemory?

    /// Decisions still depend on alerts that are over.
    package var hasEndedAlerts: Bool { closed != nil || baseline != nil }

    package init(asOf: Minute? = nil, open: FiringAlert? = nil, closed: ClosedAlert? = nil) {
        self.asOf = asOf
        self.open = open
        self.closed = closed
    }
}
