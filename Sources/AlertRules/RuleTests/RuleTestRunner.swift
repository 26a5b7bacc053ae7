/// Runs rule tests: the same evaluation as live, over synthetic traffic.
package enum RuleTestRunner {
    package static func run(_ tests: [RuleTest]) -> RuleTestReport {
        RuleTestReport(results: tests.map(run))
    }

    /// Runs everything in `tests/` of an alerts directory. Findings of rules and tests come along; with errors, what is
    /// readable is run all the same.
    package static func run(alertsDirectory path: String) -> (report: RuleTestReport, findings: [Finding]) {
        let directory = AlertsDirectory(path: path)
        let set = directory.ruleSet()
        let sources = directory.testSources()
        let (tests, findings) = RuleTestFile.read(sources.sources, rules: set.rules)
        return (run(tests), (set.findings + sources.findings + findings).sorted())
    }

    private static func run(_ test: RuleTest) -> RuleTestReport.Result {
        let transitions = transitions(of: test)
        var alerts = alerts(transitions, of: test)
        var failures: [String] = []
        for expected in test.expected {
            if let index = alerts.firstIndex(where: { $0.group == expected.group && $0.fires == expected.fires }) {
                failures += alerts.remove(at: index).differences(from: expected)
            } else {
                failures.append("expected \(expected.group) to fire at \(RuleDuration(minutes: expected.fires)); it did not")
            }
        }
        failures += alerts.map { "did not expect: \($0.description)" }
        return RuleTestReport.Result(name: test.name, alert: test.rule.name, position: test.position, failures: failures)
    }

    /// All transitions of a test, from its first minute to its last.
    package static func transitions(of test: RuleTest) -> [Transition] {
        guard test.minutes > 0 else { return [] }
        let rows = test.input.flatMap { input -> [KeyedCounts] in
            var key = input.key
            if key[.eventType] == nil { key.values[.eventType] = "send" }
            guard test.rule.condition.of.admits(key) else { return [] }
            let counted = input.counts.enumerated().filter { $1.attempts > 0 }.map { offset, counts in
                KeyedCounts(key: key, minute: RuleTest.start + offset, attempts: counts.attempts, bad: counts.bad)
            }
            return asRead(counted, by: test.rule)
        }
        // Of codes it is known since the start of a test that they were not seen.
        let knowsCodes = test.rule.condition.source == .codes
        let counted = GroupHistory.adding(
            test.input.flatMap { blocked($0, reason: test.rule.condition.reasons.first { OpenCircuit.reasons.contains($0) }) },
            to: GroupHistory.groups(of: test.rule, rows: rows),
            of: test.rule
        )
        let histories = counted.map {
            knowsCodes ? GroupHistory(group: $0.group, strata: $0.strata, knownSince: RuleTest.start) : $0
        }
        let states = Dictionary(
            histories.map { ($0.group, AlertState(asOf: RuleTest.start - 1)) },
            uniquingKeysWith: { first, _ in first }
        )
        return RuleEvaluation.evaluate(test.rule, histories: histories, from: states, through: RuleTest.start + (test.minutes - 1))
            .transitions
    }

    /// A refusal lasts as long as something waits for the credential.
    private static func blocked(_ input: RuleTest.InputSeries, reason: String?) -> [CircuitMinute] {
        var since: Minute?
        return input.blocked.enumerated().compactMap { offset, waiting in
            let minute = RuleTest.start + offset
            since = waiting > 0 ? since ?? minute : nil
            guard let since else { return nil }
            let credential = OpenCircuit(
                app: input.key[.app] ?? "",
                environment: input.key[.environment] ?? "",
                cause: "InvalidProviderToken",
                since: since,
                waiting: waiting,
                reason: reason
            )
            return CircuitMinute(provider: input.key[.provider] ?? "", minute: minute, credential: credential)
        }
    }

    /// A backlog's number is what waits in a minute of which there is a sample; of a code only the first minute of a day is kept.
    private static func asRead(_ rows: [KeyedCounts], by rule: AlertRule) -> [KeyedCounts] {
        switch rule.condition.source {
        case .attempts, .reregistrations: return rows
        case .backlog: return rows.map { KeyedCounts(key: $0.key, minute: $0.minute, attempts: 1, bad: $0.counts.attempts) }
        case .codes:
            var days: Set<Int64> = []
            return rows.filter { days.insert($0.minute.day).inserted }
                .map { KeyedCounts(key: $0.key, minute: $0.minute, attempts: $0.counts.attempts, bad: $0.counts.attempts) }
        }
    }

    private static func alerts(_ transitions: [Transition], of test: RuleTest) -> [ObservedAlert] {
        transitions.filter { $0.kind == .fired }.map { fired in
            // An alert that was opened again ends when it ends at last.
            let newest = transitions.last { $0.group == fired.group && $0.firedAt == fired.firedAt }
            let resolved = newest?.kind == .resolved ? newest : nil
            return ObservedAlert(
                group: fired.group,
                fires: fired.firedAt - RuleTest.start,
                resolves: resolved.map { $0.minute + 1 - RuleTest.start },
                starts: fired.startsAt - RuleTest.start,
                ends: resolved?.endsAt.map { $0 - RuleTest.start },
                severity: fired.severity,
                level: fired.evidence.level,
                annotations: test.rule.annotations.rendered(fired.facts)
            )
        }
    }
}
