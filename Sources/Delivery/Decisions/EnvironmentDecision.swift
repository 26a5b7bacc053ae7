import PushContract

/// Whether a refused token is tried in the other environment: once, before the refusal counts against it.
///
/// The commonest way to lose good tokens is to take a development build's for one of production: APNs says BadDeviceToken to both.
enum EnvironmentDecision {
    /// The code in question.
    static let code = "BadDeviceToken"

    static func afterAcceptance(of delivery: ClaimedDelivery, to token: PushToken) -> Completion.Placement? {
        guard delivery.environmentTrial == .trying, let placement = placement(delivery, token) else { return nil }
        return .settled(placement, .found)
    }

    /// - Parameter hasOther: there is a credential for the other environment.
    static func afterRefusal(
        _ refusal: DeliveryResult.Refusal,
        of delivery: ClaimedDelivery,
        to token: PushToken,
        hasOther: Bool
    ) -> Completion.Placement? {
        guard delivery.provider == .apns, let placement = placement(delivery, token) else { return nil }
        switch delivery.environmentTrial {
        case nil: return refusal.providerErrorCode == code && hasOther ? .doubtful(placement) : nil
        // A key that is not for this environment, or a topic that is not, ends the trial too: it must not hold what else there is.
        case .trying where refusal.providerErrorCode == code || refusal.classification.retryClass == .afterFix:
            return .settled(placement, .neither)
        case .trying, .found, .neither: return nil
        }
    }

    /// Nil for a bare token: whoever gave it told its environment, and there is nothing to correct.
    private static func placement(_ delivery: ClaimedDelivery, _ token: PushToken) -> TokenPlacement? {
        delivery.registrationVersion.map {
            TokenPlacement(tokenHash: token.hash, app: delivery.app, registrationVersion: $0, environment: delivery.environment)
        }
    }
}
