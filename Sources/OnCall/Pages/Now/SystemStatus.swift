import Alerting
import Delivery
import PushContract

/// The state of rules, credentials, silences, instances and writers.
struct SystemStatus {
    struct Rule: Hashable {
        var name: String
        var isFiring: Bool
        /// Nil for rules without a fixed share as threshold, and where there is no traffic.
        var ruleStatus: WorstGroupStatus?
    }

    var rules: [Rule] = []
    var credentials: [CredentialState] = []
    var circuits: [Circuit] = []
    var limiters: [DeactivationLimiter] = []
    var silences: [AlertSilence] = []
    /// Those that run.
    var instances: [Instance] = []
    /// The newest minute in which an instance could write attempts, and how many could in the last five.
    var lastHeartbeat: Timestamp?
    var writers = 0
}
