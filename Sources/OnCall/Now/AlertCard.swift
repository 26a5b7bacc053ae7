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
    let observed: String
    let threshold: String
    let counts: String
    let action: String?
    let runbook: String?
    let acknowledged: String?
    let remarks: [String]
    let acknowledgePath: String?

    init(_ episode: AlertEpisode, now: Timestamp, mayAcknowledge: Bool) {
        path = episode.pagePath
        name = AlertWords.name(episode)
        severity = episode.severity.rawValue
        summary = AlertWords.summary(episode)
        since = "since \(ClockText.moment(episode.startsAt, now: now)), \(SpanText.ago(episode.startsAt, now: now))"
        observed = episode.evidence.observedText
        threshold = AlertWords.threshold(episode.evidence)
        counts = AlertWords.counts(episode.evidence.observed)
        action = episode.annotations["action"]
        runbook = AlertWords.runbookPath(episode)
        acknowledged = AlertWords.acknowledged(episode, now: now)
        remarks = AlertWords.remarks(episode, now: now)
        acknowledgePath = mayAcknowledge && episode.acknowledgedAt == nil ? episode.pagePath + "/acknowledge" : nil
    }
}
