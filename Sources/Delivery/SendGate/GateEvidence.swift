import Providers
import PushContract

/// What this process has lately seen of providers' answers, by scope and credential: whether a failure is the provider's, the credential's,
/// or the delivery's own. Pure; bounded by the scopes in use and by `memory`.
struct GateEvidence: Sendable {
    /// An acceptance this long before a refusal still contradicts it.
    static let contradiction = Duration.seconds(5)
    /// So many different pushes in a row over this time, with nothing accepted between them, are refused for their scope, whatever was
    /// accepted before. A group of pushes that are refused each for itself is sent, and answered, at once.
    static let refusedRun = 3
    static let refusedRunTime = Duration.milliseconds(250)
    /// A delivery that was refused this often while others of its scope were accepted is given up.
    static let ownRefusals = 5
    /// An outage is this many failures in a row, by this many different pushes …
    static let outageRun = 20
    static let outagePushes = 5
    /// … or fewer over this time.
    static let shortRun = 6
    static let shortRunTime = Duration.seconds(3)
    /// Refused deliveries that are remembered.
    private static let memory = 10_000

    struct Key: Hashable, Sendable {
        var scope: PushScope
        var credential: String
    }

    /// What a refusal by the provider says.
    enum Verdict: Sendable, Hashable {
        /// Nothing contradicts it: all pushes of the scope are refused, unless another process had one accepted since then.
        case scope(unlessAcceptedSince: Timestamp)
        /// Others of the scope are accepted: only this delivery is refused, for the nth time.
        case delivery(times: Int)
    }

    private struct Run {
        var kind: CircuitKind
        var count = 0
        var since: Timestamp
        var pushes: Set<String> = []
    }

    private struct Refused {
        var at: Timestamp
        var times: Int
    }

    private struct RefusedRun {
        var since: Timestamp
        var pushes: Set<String> = []
    }

    private var accepted: [Key: Timestamp] = [:]
    private var runs: [Key: Run] = [:]
    private var refused: [String: Refused] = [:]
    /// Pushes that were refused since one with the same scope and credential was accepted.
    private var refusedRuns: [Key: RefusedRun] = [:]

    /// When each credential was last accepted.
    var lastAccepted: [String: Timestamp] {
        Dictionary(accepted.map { ($0.key.credential, $0.value) }) { max($0, $1) }
    }

    /// The provider accepted the credential and the topic.
    mutating func accept(_ key: Key, operationKey: String, at now: Timestamp) {
        noteAcceptance(of: key, at: now)
        if !refused.isEmpty { refused[operationKey] = nil }
        guard !refusedRuns.isEmpty else { return }
        for refusal in [RefusalScope.topic, .platform, .credential] { refusedRuns[GateEvidence.scope(key, of: refusal)] = nil }
    }

    /// A probe of another process was accepted, and closed this circuit.
    mutating func accept(_ circuit: CircuitScope, at closed: Timestamp) {
        guard circuit.kind == .refused else { return }
        let platforms = circuit.platform.map { [$0] } ?? (circuit.provider == .apns ? [.ios] : Platform.allCases)
        for platform in platforms {
            var scope = PushScope(circuit)
            scope.platform = platform
            let key = Key(scope: scope, credential: circuit.credential)
            noteAcceptance(of: key, at: closed)
        }
    }

    private mutating func noteAcceptance(of key: Key, at moment: Timestamp) {
        { $0 = max($0, moment) }(&accepted[key, default: moment])
    }

    /// A refusal of a credential, key or topic.
    mutating func assess(
        refusedBy outcome: RefusalScope,
        _ key: Key,
        operationKey: String,
        at now: Timestamp
    ) -> Verdict {
        let before = refused[operationKey]
        let since = min(before?.at ?? now, now - GateEvidence.contradiction)
        let isContradicted = accepted.contains { other, at in
            at > since && other.credential == key.credential && GateEvidence.concerns(outcome, key.scope, other.scope)
        }
        let scope = GateEvidence.scope(key, of: outcome)
        var run = refusedRuns[scope] ?? RefusedRun(since: now)
        if run.pushes.count < GateEvidence.refusedRun { run.pushes.insert(operationKey) }
        refusedRuns[scope] = run
        if run.pushes.count == GateEvidence.refusedRun, now - run.since >= GateEvidence.refusedRunTime {
            return .scope(unlessAcceptedSince: run.since)
        }
        let times = (before?.times ?? 0) + (isContradicted ? 1 : 0)
        if refused.count >= GateEvidence.memory { refused.removeAll() }
        refused[operationKey] = Refused(at: now, times: times)
        return isContradicted ? .delivery(times: times) : .scope(unlessAcceptedSince: since)
    }

    /// Another process had a push of the scope accepted: the refusal that was assessed last is this push's own, for the nth time.
    mutating func assessAgain(_ key: Key, operationKey: String, by accepted: Timestamp, at now: Timestamp) -> Int {
        accept(key, operationKey: "", at: accepted)
        let times = (refused[operationKey]?.times ?? 0) + 1
        refused[operationKey] = Refused(at: now, times: times)
        return times
    }

    /// An answer that is no failure of the provider's.
    mutating func healthy(_ key: Key) {
        if !runs.isEmpty { runs[GateEvidence.whole(key)] = nil }
    }

    /// A server error, or no answer: whether the provider is down.
    mutating func fail(_ kind: CircuitKind, _ key: Key, operationKey: String, at now: Timestamp) -> Bool {
        let key = GateEvidence.whole(key)
        var run = runs[key] ?? Run(kind: kind, since: now)
        run.kind = kind
        run.count += 1
        if run.pushes.count < GateEvidence.outagePushes { run.pushes.insert(operationKey) }
        runs[key] = run
        guard run.pushes.count >= GateEvidence.outagePushes else { return false }
        return run.count >= GateEvidence.outageRun
            || (run.count >= GateEvidence.shortRun && now - run.since >= GateEvidence.shortRunTime)
    }

    /// What a refusal of this kind concerns.
    private static func scope(_ key: Key, of refusal: RefusalScope) -> Key {
        switch refusal {
        case .topic: return key
        case .platform:
            var key = key
            key.scope.topic = nil
            return key
        default: return whole(key)
        }
    }

    /// An outage is of all platforms and topics of a credential.
    private static func whole(_ key: Key) -> Key {
        var key = key
        key.scope.topic = nil
        key.scope.platform = .ios
        return key
    }

    /// Whether an accepted push contradicts a refusal.
    private static func concerns(_ refusal: RefusalScope, _ refused: PushScope, _ accepted: PushScope) -> Bool {
        guard refused.provider == accepted.provider, refused.$app == accepted.$app, refused.environment == accepted.environment else {
            return false
        }
        return switch refusal {
        case .topic: refused.topic == accepted.topic
        case .platform: refused.platform == accepted.platform
        default: true
        }
    }
}
