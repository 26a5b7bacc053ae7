/// Runs rule tests: the same evaluation as live, over synthetic traffic.
package enum RuleTestRunner {
    /// - Parameter notifications: who is notified, for tests that expect it.
    package static func run(_ tests: [RuleTest], _ notifications: (any TestedNotifications)? = nil) -> RuleTestReport {
        RuleTestReport(results: tests.map { run($0, notifications) })
    }

    /// Runs everything in `tests/` of an alerts directory, and returns the findings of rules and tests too. Despite errors, the readable
    /// tests are run.
    package static func run(
        alertsDirectory path: String,
        _ notifications: (any TestedNotifications)? = nil
    ) -> (report: RuleTestReport, findings: [Finding]) {
        let directory = AlertsDirectory(path: path)
        let set = directory.ruleSet()
        let sources = directory.testSources()
        let (tests, findings) = RuleTestFile.read(sources.sources, rules: set.rules)
        return (run(tests, notifications), (set.findings + sources.findings + findings).sorted())
    }

    private static func run(_ test: RuleTest, _ notifications: (any TestedNotifications)?) -> RuleTestReport.Result {
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
        failures += RuleTest.differences(test, tested(test), notifications)
        return RuleTestReport.Result(name: test.name, alert: test.rule.name, position: test.position, failures: failures)
    }

    /// All transitions of a test, from its first minute to its last.
    package static func transitions(of test: RuleTest) -> [Transition] { evaluated(test, test.rule).transitions }

    private static func evaluated(_ test: RuleTest, _ rule: AlertRule) -> (states: [GroupKey: AlertState], transitions: [Transition]) {
        guard test.minutes > 0 else { return ([:], []) }
        let rows = test.input.flatMap { input -> [KeyedCounts] in
            var key = input.key
            if key[.eventType] == nil { key.values[.eventType] = "send" }
            guard rule.condition.of.admits(key) else { return [] }
            let codes = rule.condition.codes
            let isBad =
                (input.reason.map { rule.condition.reasons.contains($0) } ?? true)
                && (codes.isEmpty || codes.contains(key[.providerErrorCode] ?? ""))
            let counted = input.counts.enumerated().filter { $1.attempts > 0 }.map { offset, counts in
                KeyedCounts(key: key, minute: RuleTest.start + offset, attempts: counts.attempts, bad: isBad ? counts.bad : 0)
            }
            return asRead(counted, by: rule)
        }
        // The history of codes begins with the test.
        let knowsCodes = rule.condition.source == .codes
        let counted = GroupHistory.adding(
            test.input.flatMap { blocked($0, reason: rule.condition.reasons.first { OpenCircuit.reasons.contains($0) }) },
            to: GroupHistory.groups(of: rule, rows: rows),
            of: rule
        )
        let histories = counted.map {
            knowsCodes ? GroupHistory(group: $0.group, strata: $0.strata, knownSince: RuleTest.start) : $0
        }
        let states = Dictionary(
            histories.map { ($0.group, AlertState(asOf: RuleTest.start - 1)) },
            uniquingKeysWith: { first, _ in first }
        )
        return RuleEvaluation.evaluate(rule, histories: histories, from: states, through: RuleTest.start + (test.minutes - 1))
    }

    /// The alerts of the rule and of those that suppress it, causes first.
    private static func tested(_ test: RuleTest) -> [TestedAlert] {
        guard test.expected.contains(where: { $0.notified != nil }) else { return [] }
        var needed: [AlertRule] = []
        var names = [test.rule.name]
        while let name = names.popLast() {
            guard let rule = test.rules[name], !needed.contains(rule) else { continue }
            needed.append(rule)
            names += rule.suppressedBy
        }
        return Suppression.causesFirst(needed).flatMap { rule in
            let (states, transitions) = evaluated(test, rule)
            return transitions.filter { $0.kind == .fired }.map { fired in
                let newest = transitions.last { $0.group == fired.group && $0.firedAt == fired.firedAt } ?? fired
                let open = newest.kind == .resolved ? nil : states[fired.group]?.open
                return TestedAlert(
                    rule: rule.name,
                    group: fired.group,
                    severity: fired.severity,
                    labels: rule.labels(of: fired.group, severity: fired.severity),
                    starts: fired.startsAt - RuleTest.start,
                    fires: fired.firedAt - RuleTest.start,
                    resolves: newest.kind == .resolved ? newest.minute + 1 - RuleTest.start : nil,
                    lastSet: (open?.lastSet ?? newest.lastSet) + 1 - RuleTest.start
                )
            }
        }
    }

    /// A refusal lasts as long as it blocks something.
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

    /// As the series are stored: of a backlog, what waits in each sampled minute; of a feed, how many followers it affects; of a code, the
    /// first minute of a day alone.
    private static func asRead(_ rows: [KeyedCounts], by rule: AlertRule) -> [KeyedCounts] {
        switch rule.condition.source {
        case .attempts, .reregistrations: return rows
        case .backlog, .queueAge: return rows.map { KeyedCounts(key: $0.key, minute: $0.minute, attempts: 1, bad: $0.counts.attempts) }
        case .feeds: return rows.map { KeyedCounts(key: $0.key, minute: $0.minute, attempts: 1, bad: $0.counts.bad) }
        case .codes:
            var days: Set<Int64> = []
            return rows.filter { days.insert($0.minute.day).inserted }
                .map { KeyedCounts(key: $0.key, minute: $0.minute, attempts: $0.counts.attempts, bad: $0.counts.attempts) }
        }
    }

    private static func alerts(_ transitions: [Transition], of test: RuleTest) -> [ObservedAlert] {
        transitions.filter { $0.kind == .fired }.map { fired in
            // An alert that was reopened ends at its last end.
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
