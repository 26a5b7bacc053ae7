import Providers
package import PushContract
import Synchronization

/// What the outcome of an attempt says about others. By reference, as it is large and nearly always `nothing`.
final class GateVerdict: Sendable {
    static let nothing = GateVerdict()

    /// The circuit it opens, or adds a refusal to.
    let opening: CircuitOpening?
    /// How often this push was refused while others of its scope were accepted.
    let ownRefusals: Int
    /// It opens no circuit if another process had a push of the scope accepted since then; nil: it does in any case.
    let unlessAcceptedSince: Timestamp?

    init(opening: CircuitOpening? = nil, ownRefusals: Int = 0, unlessAcceptedSince: Timestamp? = nil) {
        self.opening = opening
        self.ownRefusals = ownRefusals
        self.unlessAcceptedSince = unlessAcceptedSince
    }
}

/// What this process knows about circuits and rate-limit pauses, and so whether a push may be sent. Read now and then, and changed at once
/// by what this process's own outcomes open and close. Safe to use from any thread.
package final class SendGate: Sendable {
    package enum Admission: Sendable, Hashable {
        /// It may be sent. `circuitsToClose`: open circuits that its outcome may close.
        case allowed(circuitsToClose: [Circuit])
        case blocked(Obstacle)
    }

    /// Why a push is not sent now.
    package struct Obstacle: Sendable, Hashable {
        /// When it is worth another try.
        package var until: Timestamp
        /// The open circuit; nil: a pause, or the intent could not be recorded.
        package var circuit: Int64?
    }

    fileprivate struct State {
        var circuits: [Circuit] = []
        var pauses: [RateLimitPause] = []
        /// Of the database's clock against this machine's.
        var offset = Duration.zero
        /// Circuits that this process may make one attempt for.
        var probes: Set<Int64> = []
        /// Where something waits because of a circuit.
        var waiting: Set<AppEnvironment> = []
        var evidence = GateEvidence()
        /// Of circuits that closed, here or elsewhere, since `takeClosed` was last called.
        var closed: Set<CircuitScope> = []
    }

    /// A push without a lease that a circuit blocks is tried again after this.
    package static let retryInterval = Duration.seconds(30)
    /// The same during an outage, whose end is known within two seconds.
    static let outageRetryInterval = Duration.seconds(2)

    private let state = Mutex(State())

    init() {}

    /// Whether a push of this scope may be sent; a probe's turn is taken by asking.
    ///
    /// - Parameter lease: of a delivery of the queue, which is claimed within its queue's rate limit. The delivery of a probe may pass.
    package func admit(_ scope: PushScope, credential: String, lease: DeliveryLease?, now: Timestamp) -> Admission {
        state.withLock { state in
            if lease == nil, let until = state.pausedUntil(scope, now: now) { return .blocked(Obstacle(until: until)) }
            let circuits = state.circuits.filter { $0.scope.covers(scope) }
            switch CircuitDecision.admission(credential: credential, probeOf: lease?.probeOf, circuits: circuits) {
            case .allowed(let circuitsToClose): return .allowed(circuitsToClose: circuitsToClose)
            case .blocked(let circuit):
                if lease == nil, state.probes.remove(circuit.id) != nil { return .allowed(circuitsToClose: circuits) }
                if lease == nil { state.waiting.insert(scope.appEnvironment) }
                let wait = circuit.scope.kind.isOutage ? SendGate.outageRetryInterval : SendGate.retryInterval
                return .blocked(Obstacle(until: now + wait, circuit: circuit.id))
            }
        }
    }

    /// Whether a circuit blocks all pushes of this scope, whatever their platform and topic.
    func blocks(_ scope: PushScope, credential: String) -> Bool {
        state.withLock { state in
            state.circuits.contains {
                $0.scope.credential == credential && $0.scope.topic == nil && $0.scope.platform == nil && $0.scope.covers(scope)
            }
        }
    }

    /// What the outcome of an attempt says about its scope.
    ///
    /// - Parameter acceptedElsewhere: the refusal was assessed before, and another process had a push of the scope accepted since then.
    func assess(
        _ outcome: PushOutcome,
        _ scope: PushScope,
        hasOwnTopic: Bool,
        credential: String,
        operationKey: String,
        acceptedElsewhere: Timestamp? = nil,
        now: Timestamp
    ) -> GateVerdict {
        state.withLock { state in
            let key = GateEvidence.Key(scope: scope, credential: credential)
            if let acceptedElsewhere {
                return GateVerdict(ownRefusals: state.evidence.assessAgain(key, operationKey: operationKey, by: acceptedElsewhere, at: now))
            }
            if let kind = CircuitDecision.outage(outcome) {
                let isOpen = state.circuits.contains {
                    $0.scope.kind.isOutage && $0.scope.credential == credential && $0.scope.covers(scope)
                }
                let isDown = state.evidence.fail(kind, key, operationKey: operationKey, at: now)
                guard isDown || isOpen else { return .nothing }
                return GateVerdict(opening: CircuitDecision.opening(kind, after: outcome, in: scope, credential: credential))
            }
            // A stream that was closed, or a push that was not sent, has no status and says nothing about the provider.
            if outcome.httpStatus != nil { state.evidence.healthy(key) }
            if CircuitDecision.isCredentialAccepted(outcome) {
                state.evidence.accept(key, operationKey: operationKey, at: now)
                return .nothing
            }
            let opening = CircuitDecision.opening(after: outcome, in: scope, hasOwnTopic: hasOwnTopic, credential: credential)
            guard let opening else { return .nothing }
            switch state.evidence.assess(refusedBy: outcome.refusalScope, key, operationKey: operationKey, at: now) {
            case .delivery(let times): return GateVerdict(ownRefusals: times)
            case .scope(let since):
                let isOpen = state.circuits.contains { $0.scope == opening.scope }
                return GateVerdict(opening: opening, unlessAcceptedSince: isOpen ? nil : since)
            }
        }
    }

    /// When each credential was last accepted, as far as this process knows.
    package var lastAccepted: [String: Timestamp] { state.withLock { $0.evidence.lastAccepted } }

    /// Whether `takeClosed` has something to say.
    var hasClosed: Bool { state.withLock { !$0.closed.isEmpty } }

    /// Scopes of circuits that closed since the last call.
    func takeClosed() -> Set<CircuitScope> {
        state.withLock { state in
            defer { state.closed = [] }
            return state.closed
        }
    }

    /// How many of a queue may be under way at `now` by this machine's clock.
    func slots(of queue: SendQueue, capacity: Int, ramp: Duration, now: Timestamp) -> Int {
        state.withLock { state in
            let pause = state.pauses.first { $0.applies(to: queue) }
            return RateLimitDecision.slots(pause, capacity: capacity, ramp: ramp, now: now + state.offset)
        }
    }

    /// Those of the circuits known here that are not among `open`.
    func missing(from open: [Circuit]) -> [Int64] {
        let open = Set(open.map(\.id))
        return state.withLock { $0.circuits.map(\.id).filter { !open.contains($0) } }
    }

    /// - Parameters:
    ///   - probed: missing circuits that an accepted probe closed. Of the others, which a person closed or which blocked nothing, nobody
    ///     knows that their scope is accepted.
    ///   - offset: of the database's clock against this machine's.
    func replace(circuits: [Circuit], probed: Set<Int64> = [], pauses: [RateLimitPause], offset: Duration) {
        state.withLock { state in
            let open = Set(circuits.map(\.id))
            let now = Timestamp.now()
            for circuit in state.circuits where !open.contains(circuit.id) {
                state.closed.insert(circuit.scope)
                if probed.contains(circuit.id) { state.evidence.accept(circuit.scope, at: now) }
            }
            state.circuits = circuits
            state.pauses = pauses
            state.offset = offset
            state.probes.formIntersection(circuits.map(\.id))
        }
    }

    /// What a written batch opened, closed and paused.
    func add(_ report: OutcomeReport) {
        guard !report.opened.isEmpty || !report.paused.isEmpty || !report.closed.isEmpty else { return }
        state.withLock { state in
            let opened = Set(report.opened.map(\.id))
            for circuit in state.circuits where report.closed.contains(circuit.id) { state.closed.insert(circuit.scope) }
            state.circuits.removeAll { opened.contains($0.id) || report.closed.contains($0.id) }
            state.circuits += report.opened
            state.probes.subtract(report.closed)
            for pause in report.paused {
                state.pauses.removeAll { $0.provider == pause.provider && $0.$app == pause.$app }
                state.pauses.append(pause)
            }
        }
    }
}

/// For pushes that no queue holds: where nothing is to be claimed, and whose turn a probe is.
extension SendGate {
    /// Where nothing is to be claimed for pushes through APNs.
    package func blocked(credential: (AppEnvironment) -> String, now: Timestamp) -> Set<AppEnvironment> {
        let (circuits, pauses, probes, offset) = state.withLock { ($0.apnsCircuits, $0.pauses, $0.probes, $0.offset) }
        var appEnvironments: Set<AppEnvironment> = []
        for circuit in circuits where !probes.contains(circuit.id) && circuit.scope.credential == credential(circuit.scope.appEnvironment) {
            appEnvironments.insert(circuit.scope.appEnvironment)
        }
        for pause in pauses where pause.provider == .apns && pause.until > now + offset {
            for environment in PushEnvironment.allCases { appEnvironments.insert(AppEnvironment(app: pause.app, environment: environment)) }
        }
        return appEnvironments
    }

    /// Circuits of APNs for which somebody should make an attempt now, and whether something is known to wait for it.
    package func dueProbes(
        credential: (AppEnvironment) -> String,
        now: Timestamp
    ) -> [(circuit: Circuit, appEnvironment: AppEnvironment, isWanted: Bool)] {
        let (circuits, probes, waiting, offset) = state.withLock { ($0.apnsCircuits, $0.probes, $0.waiting, $0.offset) }
        return circuits.compactMap { circuit in
            let appEnvironment = circuit.scope.appEnvironment
            guard !probes.contains(circuit.id),
                CircuitDecision.isProbeDue(circuit, credential: credential(appEnvironment), now: now + offset)
            else {
                return nil
            }
            return (circuit, appEnvironment, waiting.contains(appEnvironment))
        }
    }

    package func giveProbe(of circuit: Circuit) {
        state.withLock { state in
            state.probes.insert(circuit.id)
            state.waiting.remove(circuit.scope.appEnvironment)
        }
    }
}

extension SendGate.State {
    /// By this machine's clock.
    fileprivate func pausedUntil(_ scope: PushScope, now: Timestamp) -> Timestamp? {
        let pause = pauses.first { $0.provider == scope.provider && $0.$app == scope.$app && $0.until > now + offset }
        return pause.map { $0.until - offset }
    }

    /// Of Live Activities, whose pushes have a topic of their own.
    fileprivate var apnsCircuits: [Circuit] {
        circuits.filter { $0.scope.provider == .apns && ($0.scope.platform ?? .ios) == .ios && $0.scope.topic == nil }
    }
}

extension CircuitScope {
    fileprivate var appEnvironment: AppEnvironment { AppEnvironment(app: app, environment: environment) }
}
