import AlertRules
import Alerting
import PushContract

/// A firing alert on the page *Now*.
struct AlertCard {
    let path: String
    let name: String
    let severity: String
    let summary: String
    let since: String
    let hasFigures: Bool
    let observed: String
    let threshold: String
    let counts: String
    let action: String?
    let runbook: String?
    let acknowledged: String?
    let notes: [String]
    let acknowledgePath: String?

    init(_ alert: Alert, silences: [AlertSilence], now: Timestamp, mayAcknowledge: Bool) {
        path = alert.pagePath
        name = AlertWords.name(alert)
        severity = alert.severity.rawValue
        summary = AlertWords.summary(alert)
        since = "since \(ClockText.moment(alert.startsAt, now: now)), \(DurationText.ago(alert.startsAt, now: now))"
        hasFigures = !alert.isBuiltIn
        observed = alert.evidence.observedText
        threshold = AlertWords.threshold(alert.evidence)
        counts = AlertWords.counts(alert.evidence.observed, alert.evidence.level)
        action = alert.annotations["action"]
        runbook = AlertWords.runbookPath(alert)
        acknowledged = AlertWords.acknowledged(alert, now: now)
        notes = AlertWords.notes(alert, silences, now: now)
        acknowledgePath = mayAcknowledge && alert.acknowledgedAt == nil ? alert.pagePath + "/acknowledge" : nil
    }
}
