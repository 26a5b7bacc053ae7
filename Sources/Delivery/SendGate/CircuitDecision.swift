import Providers
import PushContract
import ServiceKit

/// When failures block all pushes of a scope, and what ends that.
package enum CircuitDecision {
    /// Until the next probe of a provider that is down: at most 40 requests a minute over all instances, and known again within two
    /// seconds.
    static let outageProbe = Duration.milliseconds(1500)
    /// Until the first probes of a refused credential: other deliveries than the refused one are tried soon, in case it is alone at fault.
    static let firstProbe = Duration.seconds(1)
    /// So many deliveries are tried soon, the refused one included, before probes become rare.
    static let firstProbes = 3
    /// A circuit that blocks no delivery, and whose probe nobody has made for so long after it fell due, is closed. A process that has
    /// updates of Live Activities to send takes the turn within two minutes: it tries each of them once a minute.
    static let idleLimit = Duration.seconds(180)

    /// What a push finds.
    package enum Admission: Sendable, Hashable {
        /// `circuitsToClose`: circuits to close if the provider accepts the credential now.
        case allowed(circuitsToClose: [Circuit])
        case blocked(Circuit)
    }

    /// The circuit of a refused credential, key or topic; nil when the refusal says nothing about other pushes.
    static func opening(
        after outcome: PushOutcome,
        in scope: PushScope,
        hasOwnTopic: Bool,
        credential: String
    ) -> CircuitOpening? {
        guard let classification = outcome.classification, classification.retryClass == .afterFix else { return nil }
        if outcome.refusalScope == .topic && hasOwnTopic { return nil }
        let circuit = CircuitScope(
            .refused,
            provider: scope.provider,
            app: scope.app,
            environment: scope.environment,
            // A key that the project has for one platform.
            platform: outcome.refusalScope == .platform ? scope.platform : nil,
            topic: outcome.refusalScope == .topic ? scope.topic : nil,
            credential: credential
        )
        let code = outcome.providerErrorCode ?? classification.reasonCode.rawValue
        return CircuitOpening(scope: circuit, cause: code, probeAfter: firstProbe)
    }

    /// The circuit of a provider that is down.
    static func opening(_ kind: CircuitKind, after outcome: PushOutcome, in scope: PushScope, credential: String) -> CircuitOpening {
        let circuit = CircuitScope(kind, provider: scope.provider, app: scope.app, environment: scope.environment, credential: credential)
        let code = outcome.providerErrorCode ?? outcome.httpStatus.map { "HTTP \($0)" } ?? kind.reasonCode.rawValue
        return CircuitOpening(scope: circuit, cause: code, probeAfter: outageProbe)
    }

    /// The kind of outage this outcome is part of; nil: it is none.
    static func outage(_ outcome: PushOutcome) -> CircuitKind? {
        guard outcome.status != .sent, outcome.refusalScope == .provider, outcome.retryClass != .never else { return nil }
        return outcome.httpStatus == nil ? .unreachable : .failing
    }

    /// Whether a push may be sent. A probe may; one with another credential than the refused one may.
    ///
    /// - Parameter circuits: those that cover the push.
    package static func admission(credential: String, probeOf: Int64?, circuits: [Circuit]) -> Admission {
        if probeOf != nil { return .allowed(circuitsToClose: circuits) }
        if let circuit = circuits.first(where: { $0.scope.credential == credential }) { return .blocked(circuit) }
        return .allowed(circuitsToClose: circuits)
    }

    /// Which circuits this outcome closes, of those it passed.
    static func closed(_ circuits: [Circuit], after outcome: PushOutcome) -> [Int64] {
        circuits.filter { circuit in
            circuit.scope.kind.isOutage ? isProviderHealthy(outcome) : isCredentialAccepted(outcome)
        }.map(\.id)
    }

    /// Whether the provider has judged the push itself, and so has accepted the credential.
    static func isCredentialAccepted(_ outcome: PushOutcome) -> Bool {
        guard let classification = outcome.classification else { return true }
        // An outage or a full quota is answered before the credential is checked; so is nothing at all.
        return classification.retryClass == .never && classification.reasonCode != .auth && outcome.httpStatus != nil
    }

    /// Whether the provider answered, and not with a server error.
    static func isProviderHealthy(_ outcome: PushOutcome) -> Bool { outcome.httpStatus.map { $0 < 500 } ?? false }

    /// Whether somebody should make a try now. `credential`: the one in use here for the circuit's scope.
    static func isProbeDue(_ circuit: Circuit, credential: String, now: Timestamp) -> Bool {
        circuit.nextProbeAt <= now || hasNewCredential(circuit, credential: credential)
    }

    /// Another credential came into use, and has not been tried yet.
    static func hasNewCredential(_ circuit: Circuit, credential: String) -> Bool {
        credential != circuit.scope.credential && credential != circuit.probedWith
    }

    /// Until the try after this one.
    package static func probeInterval(_ circuit: Circuit, delays: RetryDelays = RetryDelays(), random: Double) -> Duration {
        if circuit.scope.kind.isOutage { return min(outageProbe, delays.network.cap) }
        // The refusal that opened it was the first of them.
        let later = circuit.probes + 2 - firstProbes
        return later < 0 ? min(firstProbe, delays.afterFix.cap) : delays.afterFix.wait(failures: later + 1, random: random)
    }
}
