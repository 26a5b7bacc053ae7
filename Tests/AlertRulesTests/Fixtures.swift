import AlertRules

/// A repeatable source of chance (SplitMix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// How many of `trials` happen.
    mutating func binomial(_ trials: Int64, _ share: Double) -> Int64 {
        var count: Int64 = 0
        for _ in 0..<trials where Double.random(in: 0..<1, using: &self) < share { count += 1 }
        return count
    }
}

enum Make {
    static let start = Minute.firstOf(day: 20_458)

    static func rule(_ condition: RuleCondition, by: [Dimension] = [], severity: Severity = .page, name: String = "Test") -> AlertRule {
        AlertRule(
            name: name,
            ruleGroup: "tests",
            condition: condition,
            by: by,
            severity: severity,
            labels: ["severity": severity.rawValue],
            annotations: RuleAnnotations(
                summary: AnnotationTemplate(plain: "s"),
                action: AnnotationTemplate(plain: "a"),
                runbook: "runbooks/x.md"
            ),
            source: SourcePosition(file: "test.yml", line: 1, column: 1)
        )
    }

    /// `provider_5xx` above 5 % for 15 m.
    static func outage(version: RatioCondition.Version = .two, _ change: (inout RatioCondition) -> Void = { _ in }) -> AlertRule {
        var ratio = RatioCondition(reasons: ["provider_5xx"], above: Fraction(5, 100), for: RuleDuration(minutes: 15), version: version)
        change(&ratio)
        return rule(.ratio(ratio))
    }

    /// `auth` above 1 % for 10 m.
    static func auth(version: RatioCondition.Version = .two) -> AlertRule {
        rule(.ratio(RatioCondition(reasons: ["auth"], above: Fraction(1, 100), for: RuleDuration(minutes: 10), version: version)))
    }

    /// `token_not_registered` above 3 × its weekly baseline.
    static func spike(version: BaselineCondition.Version = .two, _ change: (inout BaselineCondition) -> Void = { _ in }) -> AlertRule {
        var baseline = BaselineCondition(reasons: ["token_not_registered"], above: Fraction(3, 1), version: version)
        change(&baseline)
        return rule(.baseline(baseline))
    }

    static func counts(_ runs: [(minutes: Int, attempts: Int64, bad: Int64)]) -> [AttemptCounts] {
        runs.flatMap { Array(repeating: AttemptCounts(attempts: $0.attempts, bad: $0.bad), count: $0.minutes) }
    }

    static func series(_ runs: [(minutes: Int, attempts: Int64, bad: Int64)]) -> MinuteSeries {
        MinuteSeries(first: start, minutes: counts(runs))
    }

    static func history(_ runs: [(minutes: Int, attempts: Int64, bad: Int64)]) -> GroupHistory {
        GroupHistory(series: series(runs))
    }

    /// All transitions of one rule over one history.
    static func transitions(_ rule: AlertRule, _ history: GroupHistory) -> [Transition] {
        RuleEvaluation.fold(rule, history, from: AlertState(asOf: history.total.first - 1), through: history.total.end - 1).transitions
    }

    /// Everything that happens, with the minutes that have closed by then: `fired 75`.
    static func story(_ rule: AlertRule, _ runs: [(minutes: Int, attempts: Int64, bad: Int64)]) -> [String] {
        transitions(rule, history(runs)).map { "\($0.kind.rawValue) \($0.minute + 1 - start)" }
    }

    /// Minutes from the start at which the alert fires (the number of minutes that have closed by then).
    static func firings(_ rule: AlertRule, _ runs: [(minutes: Int, attempts: Int64, bad: Int64)]) -> [Int] {
        transitions(rule, history(runs)).filter { $0.kind == .fired }.map { $0.firedAt - start }
    }
}
