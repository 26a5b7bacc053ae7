import AlertRules
import Alerting
import PushContract

/// Everything an alert's page shows.
struct AlertData {
    var episode: AlertEpisode
    var series: AlertSeries?
    var lanes: [LaneRecord]
    var deliveries: [DeliveryRecord]
    /// The runbook's markdown, when it lies in the alerts directory.
    var runbook: String?
}
