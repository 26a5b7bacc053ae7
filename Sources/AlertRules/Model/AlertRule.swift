/// One alert rule as read from a rule file.
package struct AlertRule: Sendable, Hashable {
    /// The alert's name, unique over all files.
    package let name: String
    /// The name of the `groups:` entry that contains the rule.
    package let ruleGroup: String
    package let condition: RuleCondition
    /// One alert for each combination of these; empty means one for all traffic.
    package let by: [Dimension]
    package let severity: Severity
    /// All labels as written, `severity` included.
    package let labels: [String: String]
    package let annotations: RuleAnnotations
    /// Rules whose alerts explain those of this one: while one of them fires for the same group, this one is suppressed.
    package let suppressedBy: [String]
    package let source: SourcePosition
    /// Changes when, and only when, the rule's decisions may change: texts, labels and receivers do not count.
    package let version: String

    package init(
        name: String,
        ruleGroup: String,
        condition: RuleCondition,
        by: [Dimension],
        severity: Severity,
        labels: [String: String],
        annotations: RuleAnnotations,
        suppressedBy: [String] = [],
        source: SourcePosition
    ) {
        self.name = name
        self.ruleGroup = ruleGroup
        self.condition = condition
        self.by = by.sorted()
        self.severity = severity
        self.labels = labels
        self.annotations = annotations
        self.suppressedBy = suppressedBy
        self.source = source
        version = RuleVersion.of(name: name, condition: condition, by: by)
    }

    /// Every dimension that rows for this rule must have: those of the groups and those of the strata.
    package var dimensions: [Dimension] { Set(by).union(condition.base.strata).sorted() }

    /// The values of a dimension that its alerts can have; nil where any text is possible.
    package func possibleValues(of dimension: Dimension) -> [String]? { condition.of.allowed[dimension] ?? dimension.allowedValues }

    /// The labels of an alert of this rule; a group's value wins over a label of the same name.
    package func labels(of group: GroupKey, severity: Severity) -> [String: String] {
        var labels = labels
        labels["alertname"] = name
        labels["severity"] = severity.rawValue
        for (dimension, value) in group.values { labels[dimension.rawValue] = value }
        return labels
    }

    /// At levels with too little evidence for a page, a ticket.
    func severity(at level: Evidence.Level) -> Severity { level.isTicket && severity.pages ? .ticket : severity }

    /// How many minutes before a minute are needed to decide about it; whole days of a baseline come on top.
    package var lookback: Int { condition.base.lookback }

    /// The minutes within `lookback` of `first` that are needed to decide about those after `first` up to `last`; empty: all of them.
    package func spans(after first: Minute, through last: Minute) -> [ClosedRange<Minute>] { condition.base.spans(first, last) }
}
