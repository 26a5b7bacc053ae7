import PushContract
import Delivery
import Synchronization

/// What keeps Live Activity pushes back: credentials that are refused, and a provider that asked for fewer requests. Read now and then, and
/// told at once what this process's own outcomes opened. Safe to use from any thread.
final class LiveSendGate: Sendable {
    /// How a push stands before it is made.
    enum Admission: Sendable, Hashable {
        /// It may go. `circuitsToClose`: holds that are refuted if the provider takes the credential now.
        case allowed(circuitsToClose: [Int64])
        case blocked(until: Timestamp)
    }

    fileprivate struct State {
        var circuits: [Circuit] = []
        var pauses: [RateLimitPause] = []
        /// Holds that this process has the turn to make one try for.
        var probes: Set<Int64> = []
        /// Where something waits because of a hold.
        var blocked: Set<AppEnvironment> = []
    }

    /// What waits looks again after so long.
    static let retryInterval = Duration.seconds(30)

    private let state = Mutex(State())

    func replace(circuits: [Circuit], pauses: [RateLimitPause]) {
        state.withLock { state in
            state.circuits = circuits.filter { $0.scope.provider == .apns && ($0.scope.platform ?? .ios) == .ios }
            state.pauses = pauses.filter { $0.provider == .apns }
            state.probes.formIntersection(state.circuits.map(\.id))
        }
    }

    func add(_ report: CircuitWriter.Report) {
        guard !report.opened.isEmpty || !report.closed.isEmpty || !report.paused.isEmpty else { return }
        state.withLock { state in
            let opened = Set(report.opened.map(\.id))
            state.circuits.removeAll { opened.contains($0.id) || report.closed.contains($0.id) }
            state.circuits += report.opened
            state.probes.subtract(report.closed)
            for pause in report.paused {
                state.pauses.removeAll { $0.app == pause.app }
                state.pauses.append(pause)
            }
        }
    }

    /// How a push of this place stands; a probe is taken by asking.
    func take(_ appEnvironment: AppEnvironment, credential: String, now: Timestamp) -> Admission {
        state.withLock { state in
            if let until = state.paused(appEnvironment.app, now: now) { return .blocked(until: until) }
            let covering = state.circuits.filter { $0.scope.isOf(appEnvironment) }
            guard let circuit = covering.first(where: { $0.scope.credential == credential }) else { return .allowed(circuitsToClose: covering.map(\.id)) }
            if state.probes.remove(circuit.id) != nil { return .allowed(circuitsToClose: covering.map(\.id)) }
            state.blocked.insert(appEnvironment)
            return .blocked(until: now + LiveSendGate.retryInterval)
        }
    }

    /// Places nothing is to be claimed for.
    func blocked(credential: (AppEnvironment) -> String, now: Timestamp) -> (appEnvironments: Set<AppEnvironment>, hasProbes: Bool) {
        let (circuits, pauses, probes) = state.withLock { ($0.circuits, $0.pauses, $0.probes) }
        var appEnvironments: Set<AppEnvironment> = []
        for circuit in circuits where !probes.contains(circuit.id) {
            let appEnvironment = AppEnvironment(app: circuit.scope.app, environment: circuit.scope.environment)
            if circuit.scope.credential == credential(appEnvironment) { appEnvironments.insert(appEnvironment) }
        }
        for pause in pauses where pause.until > now {
            for environment in PushEnvironment.allCases { appEnvironments.insert(AppEnvironment(app: pause.app, environment: environment)) }
        }
        return (appEnvironments, !probes.isEmpty)
    }

    /// Holds for which somebody should make a try now.
    func due(credential: (AppEnvironment) -> String, now: Timestamp) -> [(circuit: Circuit, appEnvironment: AppEnvironment, isWanted: Bool)] {
        let (circuits, probes, blocked) = state.withLock { ($0.circuits, $0.probes, $0.blocked) }
        return circuits.compactMap { circuit in
            let appEnvironment = AppEnvironment(app: circuit.scope.app, environment: circuit.scope.environment)
            guard !probes.contains(circuit.id), CircuitDecision.isProbeDue(circuit, credential: credential(appEnvironment), now: now) else { return nil }
            return (circuit, appEnvironment, blocked.contains(appEnvironment))
        }
    }

    func giveProbe(of circuit: Circuit, at appEnvironment: AppEnvironment) {
        state.withLock { state in
            state.probes.insert(circuit.id)
            state.blocked.remove(appEnvironment)
        }
    }
}

extension LiveSendGate.State {
    func paused(_ app: String, now: Timestamp) -> Timestamp? { pauses.first { $0.app == app && $0.until > now }?.until }
}

extension CircuitScope {
    fileprivate func isOf(_ appEnvironment: AppEnvironment) -> Bool { app == appEnvironment.app && environment == appEnvironment.environment }
}
