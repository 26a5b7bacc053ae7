/// One test of a rule: synthetic traffic, and exactly the alerts expected from it.
package struct RuleTest: Sendable, Hashable {
    package var name: String
    package var rule: AlertRule
    package var position: SourcePosition
    package var input: [InputSeries]
    package var expected: [ExpectedAlert]
    package var events = Events()
    /// All rules, by name: those that suppress this one are folded too where notifications are checked.
    package var rules: [String: AlertRule] = [:]

    /// Traffic with one combination of dimension values, minute by minute from the start of the test.
    package struct InputSeries: Sendable, Hashable {
        package var key: GroupKey
        package var counts: [AttemptCounts]
        /// How many pushes a refused credential blocks, minute by minute; the refusal begins with the first of them.
        package var blocked: [Int64] = []
        /// The reason code of its bad attempts; nil: one that each rule counts.
        package var reason: String?
    }

    /// An alert. Times are minutes from the start of the test: 75 means when its 75th minute closes.
    package struct ExpectedAlert: Sendable, Hashable {
        package var group: GroupKey
        package var fires: Int
        /// Nil: still firing at the end.
        package var resolves: Int?
        /// The first bad minute; nil is not compared, as of `ends`, `severity`, `level` and annotations.
        package var starts: Int?
        package var ends: Int?
        package var severity: Severity?
        package var level: Evidence.Level?
        package var annotations: [String: String]
        /// Who is notified that it fires, by minutes from the start; nil is not compared.
        package var notified: [Int: [String]]?
    }

    /// Tests begin at the start of a UTC day: Monday, 2026-01-05.
    package static let start = Minute.firstOf(day: 20_458)

    package var minutes: Int { input.map { max($0.counts.count, $0.blocked.count) }.max() ?? 0 }
}
