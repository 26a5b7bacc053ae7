/// Alerts that Pushwatch raises about itself. No rule may use their names.
package enum BuiltInAlert: String, Sendable, Hashable, CaseIterable {
    /// No instance writes attempts although traffic is expected.
    case dataGap = "EvaluatorDataGap"
    /// A receiver rejected a notification permanently.
    case notificationsDeadLettered = "NotificationsDeadLettered"
    /// A receiver has not accepted a notification for minutes.
    case receiverUnreachable = "ReceiverUnreachable"
    /// An API key reports more values of a label than are counted apart.
    case labelsFolded = "LabelsFolded"
    /// A rule in force has not been evaluated for minutes, although others are.
    case rulesNotEvaluated = "RulesNotEvaluated"

    /// The version that their alerts have in place of a rule's.
    package static let version = "built-in/1"

    /// Of the labels of an alert, those that distinguish it from others of the kind and of its severity: the receiver, or the key. Not the
    /// rules that it names: an alert that names more rules replaces it.
    package func ownLabels(_ labels: [String: String]) -> [String: String] {
        labels.filter { !["alertname", "severity", "rules"].contains($0.key) }
    }

    /// The severities that its alerts may have.
    package var severities: Set<Severity> {
        switch self {
        case .dataGap: [.page]
        case .notificationsDeadLettered: Set(Severity.allCases)
        case .receiverUnreachable, .rulesNotEvaluated: [.page, .ticket]
        case .labelsFolded: [.ticket]
        }
    }

    package var runbook: String {
        switch self {
        case .dataGap: "runbooks/evaluator-data-gap.md"
        case .notificationsDeadLettered: "runbooks/notifications-dead-lettered.md"
        case .receiverUnreachable: "runbooks/receiver-unreachable.md"
        case .labelsFolded: "runbooks/labels-folded.md"
        case .rulesNotEvaluated: "runbooks/rules-not-evaluated.md"
        }
    }
}
