/// Alerts that Pushwatch raises about itself. No rule may take their names.
package enum BuiltInAlert: String, Sendable, Hashable, CaseIterable {
    /// Nobody writes attempts although there should be some.
    case dataGap = "EvaluatorDataGap"
    /// A receiver refused a message for good.
    case notificationsDeadLettered = "NotificationsDeadLettered"

    /// Part of their alerts, as a rule's version is.
    package static let version = "built-in/1"

    package var runbook: String {
        switch self {
        case .dataGap: "runbooks/evaluator-data-gap.md"
        case .notificationsDeadLettered: "runbooks/notifications-dead-lettered.md"
        }
    }
}
