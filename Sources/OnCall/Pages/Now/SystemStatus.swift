import Alerting
import Delivery
import PushContract

/// What on-call watches in addition to alerts and traffic.
struct SystemStatus {
    struct Rule: Hashable {
        var name: String
        var isFiring: Bool
        /// Nil for rules that compare with a past of their own, and where there is no traffic.
        var ruleStatus: WorstGroupStatus?
    }

    var rules: [Rule] = []
    var credentials: [CredentialState] = []
    var circuits: [Circuit] = []
    var limiters: [DeactivationLimiter] = []
    var silences: [AlertSilence] = []
    /// Those that run.
    var instances: [Instance] = []
    /// The newest minute in which somebody could write attempts, and by how many instances in the last five.
    var lastHeartbeat: Timestamp?
    var writers = 0
}
