import AlertRules
import PushContract

/// A backtest as JSON.
struct BacktestDocument: Encodable {
    struct Alert: Encodable {
        var group: [String: String]
        var severity: String
        var startsAt: String
        var firedAt: String
        var resolvedAt: String?
        var minutes: Int
        /// The rule whose alert explained this one, and when this one was notified after all; absent when it was notified at once.
        var suppressedBy: String?
        var notifiedAt: String?
        /// The numbers that made it fire.
        var evidence: EvidenceDocument
        var worstText: String

        init(_ alert: BacktestAlert, span: BacktestSpan) {
            group = alert.group.labels
            severity = alert.severity.rawValue
            startsAt = alert.fired.startsAt.timestamp.rfc3339
            firedAt = alert.firedAt.timestamp.rfc3339
            resolvedAt = alert.resolvedAt?.timestamp.rfc3339
            minutes = alert.minutes(through: span.last)
            suppressedBy = alert.suppression.cause
            if case .delayed(_, let minute) = alert.suppression { notifiedAt = minute.timestamp.rfc3339 }
            evidence = EvidenceDocument(alert.fired.evidence)
            worstText = alert.worstText
        }
    }

    struct Rule: Encodable {
        var rule: String
        var version: String
        var severity: String
        var groups: [[String: String]]
        var minutes: Int
        var alerts: [Alert]
    }

    var since: String
    var until: String
    var rules: [Rule]
}

extension BacktestReport {
    /// `{"since", "until", "rules": [{"rule", "version", "severity", "groups", "minutes", "alerts": […]}]}`
    package func json() throws -> String {
        try AlertJSON.text(
            BacktestDocument(
                since: span.since.timestamp.rfc3339,
                until: (span.last + 1).timestamp.rfc3339,
                rules: results.map { result in
                    BacktestDocument.Rule(
                        rule: result.rule.name,
                        version: result.rule.version,
                        severity: result.rule.severity.rawValue,
                        groups: result.groups.map(\.labels),
                        minutes: result.alerts.reduce(0) { $0 + $1.minutes(through: span.last) },
                        alerts: result.alerts.map { BacktestDocument.Alert($0, span: span) }
                    )
                }
            )
        )
    }
}
