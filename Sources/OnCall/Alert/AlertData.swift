import AlertRules
import Alerting
import PushContract

/// Everything an alert's page shows.
struct AlertData {
    var episode: AlertEpisode
    var series: AlertSeries?
    var lanes: [LaneRecord]
    var deliveries: [DeliveryRecord]
    /// Some of those who failed in the window the alert was decided by, or is now; the newest first.
    var people: [AffectedPerson] = []
    /// Who called its level normal, when somebody did.
    var acceptance: AcceptedNormal?
    /// Whether the rule counts refusals of our credentials.
    var concernsCredentials = false
    /// The runbook's markdown, when it lies in the alerts directory.
    var runbook: String?
}
