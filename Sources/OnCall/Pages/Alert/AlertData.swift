import AlertRules
import Alerting
import Delivery
import PushContract

/// Everything an alert's page shows.
struct AlertData {
    var alert: Alert
    var series: AlertSeries?
    var notifications: [NotificationRecord]
    var notificationAttempts: [NotificationAttemptRecord]
    /// The steps of escalation that were taken, and the next one.
    var escalations: [EscalationRecord] = []
    var nextEscalation: (at: Timestamp, escalation: EscalationPolicy.Escalation)?
    /// Some people whose pushes failed in the window of its evidence or, while it fires, in the newest one; the newest first.
    var people: [AffectedPerson] = []
    /// The acceptance of its level; nil without one.
    var acceptance: AcceptanceRecord?
    /// Those that have not ended.
    var silences: [AlertSilence] = []
    /// Those in force.
    var throttles: [SendThrottle] = []
    /// Whether the rule counts refusals of our credentials.
    var concernsCredentials = false
    /// The runbook's Markdown, when it is in the alerts directory.
    var runbook: String?
}
