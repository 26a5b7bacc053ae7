package import Providers
import PushContract

/// When a refusal blocks all pushes of its credential, and what ends that.
package enum CircuitDecision {
    /// What a push finds.
    package enum Admission: Sendable, Hashable {
        /// `circuitsToClose`: circuits to close if the provider accepts the credential now.
        case allowed(circuitsToClose: [Int64])
        case blocked(Int64)
    }

    /// Nil when the refusal is not about the credential, or may be caused by the message alone.
    ///
    /// A topic of the push's own says nothing about other pushes; a refused key does, whatever the topic.
    package static func opening(
        after outcome: PushOutcome,
        in scope: PushScope,
        hasOwnTopic: Bool,
        credential: String,
        delays: RetryDelays,
        random: Double
    ) -> CircuitOpening? {
        guard let classification = outcome.classification, classification.retryClass == .afterFix else { return nil }
        if outcome.refusalScope == .topic && hasOwnTopic { return nil }
        let code = outcome.providerErrorCode ?? classification.reasonCode.rawValue
        let circuit = CircuitScope(
            provider: scope.provider,
            app: scope.app,
            environment: scope.environment,
            // A key that the project has for one platform.
            platform: outcome.refusalScope == .platform ? scope.platform : nil,
            credential: credential
        )
        return CircuitOpening(
            scope: circuit,
            cause: code,
            probeAfter: RetryDecision.backOff(delays.afterFix, attemptNumber: 1, random: random)
        )
    }

    /// Whether a push may be sent. A probe may; one with another credential than the refused one may.
    ///
    /// - Parameter circuits: those that cover the push.
    package static func admission(credential: String, probeOf: Int64?, circuits: [Circuit]) -> Admission {
        if let probeOf { return .allowed(circuitsToClose: circuits.map(\.id) + [probeOf]) }
        if let circuit = circuits.first(where: { $0.scope.credential == credential }) { return .blocked(circuit.id) }
        return .allowed(circuitsToClose: circuits.map(\.id))
    }

    /// Whether the provider has judged the push itself, and so has accepted the credential.
    static func isCredentialAccepted(_ outcome: PushOutcome) -> Bool {
        guard let classification = outcome.classification else { return true }
        // An outage or a full quota is answered before the credential is checked; so is nothing at all.
        return classification.retryClass == .never && classification.reasonCode != .auth && outcome.httpStatus != nil
    }

    /// Whether somebody should make a try now. `credential`: the one in use here for the hold's place.
    static func isProbeDue(_ circuit: Circuit, credential: String, now: Timestamp) -> Bool {
        circuit.nextProbeAt <= now || hasNewCredential(circuit, credential: credential)
    }

    /// Another credential came into use, and has not been tried yet.
    static func hasNewCredential(_ circuit: Circuit, credential: String) -> Bool {
        credential != circuit.scope.credential && credential != circuit.probedWith
    }

    /// Until the try after this one.
    package static func probeInterval(_ circuit: Circuit, delays: RetryDelays = RetryDelays(), random: Double) -> Duration {
        RetryDecision.backOff(delays.afterFix, attemptNumber: circuit.probes + 2, random: random)
    }
}
