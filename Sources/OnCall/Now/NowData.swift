import Alerting
import PushContract
import Delivery

/// Everything the page *Now* shows, as read in one go.
struct NowData {
    var firing: [AlertEpisode]
    var recent: [AlertEpisode]
    var traffic: Traffic
    var backlog: Backlog
    var throttles: [SendThrottle]
    var delivery: AlertDeliveryHealth
    var evaluation: EvaluationHealth
}
