import AlertRules

/// Finds routes that match no alert, and alerts that reach nobody.
struct RouteCheck {
    /// What routes can match of the alerts of one rule, before any fires.
    private struct Kind {
        var rule: String
        var severity: Severity
        /// Labels with one value, and labels whose value depends on the alert.
        var labels: [String: String?]
        /// The only values that a label of the alert can have, where they are known.
        var values: [String: [String]] = [:]

        func mayHave(_ label: String, _ pattern: String) -> Bool {
            guard let value = labels[label] else { return false }
            return value.map { Wildcard.matches($0, pattern) } ?? values[label]?.contains { Wildcard.matches($0, pattern) } ?? true
        }
    }

    private let set: ReceiverSet
    private let kinds: [Kind]

    init(_ set: ReceiverSet, rules: [AlertRule]) {
        self.set = set
        let written = rules.map { rule in
            var labels: [String: String?] = rule.labels.mapValues { $0 }
            for dimension in rule.by { labels.updateValue(nil, forKey: dimension.rawValue) }
            let values = rule.by.compactMap { dimension in rule.possibleValues(of: dimension).map { (dimension.rawValue, $0) } }
            return Kind(rule: rule.name, severity: rule.severity, labels: labels, values: Dictionary(uniqueKeysWithValues: values))
        }
        let builtIn = BuiltInAlert.allCases.flatMap { alert in
            alert.severities.map { Kind(rule: alert.rawValue, severity: $0, labels: ["receiver": nil, "key": nil]) }
        }
        kinds = (written + builtIn).map { kind in
            var kind = kind
            kind.labels["alertname"] = kind.rule
            kind.labels["severity"] = kind.severity.rawValue
            return kind
        }
    }

    /// Why no alert takes this route; nil when some may.
    func problem(of route: AlertRoute) -> String? {
        if let name = route.rules.first(where: { pattern in !kinds.contains { Wildcard.matches($0.rule, pattern) } }) {
            return "no rule is called '\(name)', so this route matches nothing"
        }
        let named = kinds.filter { kind in route.rules.isEmpty || route.rules.contains { Wildcard.matches(kind.rule, $0) } }
        var candidates = named.filter { route.severities.isEmpty || route.severities.contains($0.severity) }
        guard !candidates.isEmpty else {
            let severities = route.severities.map(\.rawValue).sorted().joined(separator: " or ")
            return "no rule of this route has the severity \(severities), so it matches nothing"
        }
        for (label, pattern) in route.labels.sorted(by: { $0.key < $1.key }) {
            candidates.removeAll { !$0.mayHave(label, pattern) }
            guard candidates.isEmpty else { continue }
            return "no alert of this route has the label \(label) with '\(pattern)', so it matches nothing"
        }
        return nil
    }

    /// Why a step of escalation, counted from 1, never notifies anybody who is not notified already; nil when it may.
    func problem(ofStep number: Int) -> String? {
        guard let steps = set.escalation?.steps, steps.indices.contains(number - 1) else { return nil }
        let step = steps[number - 1].allReceivers
        guard !set.people.isDisjoint(with: step) else { return "no receiver of this step notifies people" }
        let earlier = Set(steps[..<(number - 1)].flatMap { $0.duty == nil ? $0.receivers : [] })
        let pages = kinds.filter(\.severity.pages).flatMap(receivers)
        guard pages.contains(where: { !step.isSubset(of: earlier.union($0)) }) else {
            return "every page is notified to \(step.sorted().joined(separator: ", ")) before this step, so it notifies nobody"
        }
        return nil
    }

    /// Urgent alerts that notify nobody, and receivers that no alert reaches.
    func faults() -> [String] {
        guard !set.receivers.isEmpty else { return [] }
        let routed = Set(kinds.flatMap { receivers(of: $0).flatMap(\.self) })
        let reached = routed.union(set.escalation?.steps.flatMap(\.allReceivers) ?? [])
        return [Severity.critical, .page].compactMap(silence)
            + set.receivers.map(\.name).filter { !reached.contains($0) }.map { "no alert reaches the receiver '\($0)'" }
    }

    /// Tickets that notify nobody, which may be intended; nil when there are none.
    func silentTickets() -> String? {
        guard !set.receivers.isEmpty else {
            return "there is no receiver: nobody is notified, but through alerts.webhook.url where that is set"
        }
        return silence(.ticket)
    }

    private func silence(_ severity: Severity) -> String? {
        let people = set.people
        let silent = kinds.filter { kind in kind.severity == severity && receivers(of: kind).contains { people.isDisjoint(with: $0) } }
        guard !silent.isEmpty else { return nil }
        let rules = silent.map(\.rule).sorted().joined(separator: ", ")
        return "some alerts of severity \(severity.rawValue) reach no receiver that notifies people: \(rules)"
    }

    /// Where alerts of a rule go, for each combination of values that the routes distinguish; with very many, for the first of them.
    private func receivers(of kind: Kind) -> [[String]] {
        var combinations: [[String: String]] = [kind.labels.compactMapValues(\.self)]
        for label in kind.labels.filter({ $0.value == nil }).keys.sorted() {
            let patterns = Set(set.routes.compactMap { $0.labels[label] }).sorted()
            guard !patterns.isEmpty, combinations.count < Self.maxCombinations else { continue }
            let values = kind.values[label] ?? (patterns.map { $0.replacing("*", with: "") } + [Self.otherValue])
            combinations = combinations.flatMap { labels in values.map { labels.merging([label: $0]) { $1 } } }
        }
        return combinations.map { set.names(for: kind.severity, rule: kind.rule, labels: $0) }
    }

    private static let maxCombinations = 10_000
    /// Of a label whose values are not known: none that a route names.
    private static let otherValue = "\u{FFFD}"
}
