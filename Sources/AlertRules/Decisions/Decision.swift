/// When a condition sets and when it is over, as functions of the data.
protocol Decision {
    /// The state before a minute is decided.
    func begin(_ state: AlertState)
    /// Stores in the state what later minutes need of the decision about this one.
    func settle(_ state: inout AlertState, at minute: Minute)
    /// Whether this closed minute is evaluated.
    func decides(at minute: Minute) -> Bool
    /// set(t): non-nil when the condition is met in full.
    func onset(at minute: Minute) -> EvaluatedWindow?
    /// The first bad minute of a condition that just set.
    func start(of onset: EvaluatedWindow, at minute: Minute) -> Minute
    /// The healthy shares by which an alert is resolved.
    func sharesToFreeze(at minute: Minute) -> [FrozenShare]
    /// reset(t): non-nil when enough good attempts were seen.
    func recovery(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow?
    /// Minutes after its end within which an alert that fires again is the same alert; 0: never.
    var reopenWithin: Int { get }
    /// Whether the condition, met now, reopens an alert that ended instead of beginning one.
    func reopens(_ closed: ClosedAlert, with onset: EvaluatedWindow, at minute: Minute) -> Bool
    /// Non-nil when the alert has become normal: what to announce.
    func relearned(_ alert: FiringAlert, at minute: Minute) -> EvaluatedWindow?
    /// Non-nil when a person has accepted the level: the window at that time.
    func acceptance(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow?
    /// The window to compare with the worst so far; nil when it contains too little to decide.
    func exposure(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow?
}

extension Decision {
    func sharesToFreeze(at minute: Minute) -> [FrozenShare] { [] }
    func begin(_ state: AlertState) {}
    func settle(_ state: inout AlertState, at minute: Minute) {}
    var reopenWithin: Int { 0 }
    func reopens(_ closed: ClosedAlert, with onset: EvaluatedWindow, at minute: Minute) -> Bool { minute - closed.at <= reopenWithin }
    func relearned(_ alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? { nil }
    func acceptance(of alert: FiringAlert, at minute: Minute) -> EvaluatedWindow? { nil }
}

/// A window that was decisive, with what was expected in it.
struct EvaluatedWindow {
    var level: Evidence.Level
    var window: WindowCounts
    var expected: Double?
    /// Credentials that have been refused for long enough.
    var openCircuits: [OpenCircuit] = []

    /// Of an end: the fault would have been visible in it.
    var isProof = false

    /// The counts by which a share was proven.
    var provenCounts: AttemptCounts { level == .threshold ? window.counts : AttemptCounts() }

    /// A larger share, a larger multiple of what was expected, or a smaller part of what is usual, than the evidence's worst window.
    func isWorse(than evidence: Evidence) -> Bool {
        if level.comparesNumbers { return window.counts.bad > evidence.worst.counts.bad }
        guard let expected, let worstExpected = evidence.worstExpected else {
            return window.counts.isWorse(than: evidence.worst.counts)
        }
        if level == .trafficDrop {
            return Double(window.counts.attempts) * worstExpected < Double(evidence.worst.counts.attempts) * expected
        }
        return Double(window.counts.bad) * worstExpected > Double(evidence.worst.counts.bad) * expected
    }
}
