/// Alerts that Pushwatch raises about itself. No rule may use their names.
package enum BuiltInAlert: String, Sendable, Hashable, CaseIterable {
    /// No instance writes attempts although traffic is expected.
    case dataGap = "EvaluatorDataGap"
    /// A receiver rejected a notification permanently.
    case notificationsDeadLettered = "NotificationsDeadLettered"
    /// An API key reports more values of a label than are counted apart.
    case labelsFolded = "LabelsFolded"

    /// Part of their alerts, as a rule's version is.
    package static let version = "built-in/1"

    package var runbook: String {
        switch self {
        case .dataGap: "runbooks/evaluator-data-gap.md"
        case .notificationsDeadLettered: "runbooks/notifications-dead-lettered.md"
        case .labelsFolded: "runbooks/labels-folded.md"
        }
    }
}
