import Alerting
import Delivery
import PushContract

/// Everything the page *Now* shows, as read in one go.
struct NowData {
    var firing: [Alert]
    var recent: [Alert]
    /// Those that have not ended.
    var silences: [AlertSilence] = []
    var traffic: Traffic
    var backlog: Backlog
    var throttles: [SendThrottle]
    var notificationHealth: NotificationHealth
    var evaluation: EvaluationHealth
}
