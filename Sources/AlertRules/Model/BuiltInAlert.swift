/// Alerts that Pushwatch raises about itself. No rule may take their names.
package enum BuiltInAlert: String, Sendable, Hashable, CaseIterable {
    /// Nobody writes attempts although there should be some.
    case dataGap = "EvaluatorDataGap"
    /// A receiver refused a message for good.
    case deliveryParked = "DeliveryParked"

    /// Part of their episodes, as a rule's version is.
    package static let version = "built-in/1"

    package var runbook: String {
        switch self {
        case .dataGap: "runbooks/evaluator-data-gap.md"
        case .deliveryParked: "runbooks/delivery-parked.md"
        }
    }
}
