import Providers
import PushContract

/// Whether a refused token is tried in the other environment: once, before the refusal counts against it.
///
/// The commonest way to lose good tokens is to take a development build's for one of production: APNs says BadDeviceToken to both.
enum EnvironmentDecision {
    /// The code in question.
    static let code = "BadDeviceToken"

    static func afterAcceptance(of delivery: ClaimedDelivery, _ tokenHash: TokenHash) -> PushFindings.EnvironmentUpdate? {
        guard delivery.environmentTrial == .trying, let tokenEnvironment = tokenEnvironment(delivery, tokenHash) else { return nil }
        return .resolved(tokenEnvironment, .found)
    }

    /// - Parameter hasOther: there is a credential for the other environment.
    static func afterRefusal(
        _ refusal: PushOutcome,
        of delivery: ClaimedDelivery,
        _ tokenHash: TokenHash,
        hasOther: @autoclosure () -> Bool
    ) -> PushFindings.EnvironmentUpdate? {
        guard delivery.provider == .apns, let tokenEnvironment = tokenEnvironment(delivery, tokenHash) else { return nil }
        switch delivery.environmentTrial {
        case nil: return refusal.providerErrorCode == code && hasOther() ? .uncertain(tokenEnvironment) : nil
        // A key that is not for this environment, or a topic that is not, ends the trial too: it must not hold what else there is.
        case .trying where refusal.providerErrorCode == code || refusal.retryClass == .afterFix:
            return .resolved(tokenEnvironment, .neither)
        case .trying, .found, .neither: return nil
        }
    }

    /// Nil for a bare token: the caller named its environment, and there is nothing to correct.
    private static func tokenEnvironment(_ delivery: ClaimedDelivery, _ tokenHash: TokenHash) -> TokenEnvironment? {
        delivery.registrationVersion.map {
            TokenEnvironment(tokenHash: tokenHash, app: delivery.app, registrationVersion: $0, environment: delivery.environment)
        }
    }
}
