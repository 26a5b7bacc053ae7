import PushContract
import Delivery
import Synchronization

/// What keeps Live Activity pushes back: credentials that are refused, and a provider that asked for fewer requests. Read now and then, and
/// told at once what this process's own outcomes opened. Safe to use from any thread.
final class StandstillBoard: Sendable {
    /// How a push stands before it is made.
    enum Standing: Sendable, Hashable {
        /// It may go. `proves`: holds that are refuted if the provider takes the credential now.
        case free(proves: [Int64])
        case keptBack(until: Timestamp)
    }

    fileprivate struct State {
        var holds: [SendHold] = []
        var pauses: [LanePause] = []
        /// Holds that this process has the turn to make one try for.
        var probes: Set<Int64> = []
        /// Where something waits because of a hold.
        var keptBack: Set<LivePlace> = []
    }

    /// What waits looks again after so long.
    static let patience = Duration.seconds(30)

    private let state = Mutex(State())

    func replace(holds: [SendHold], pauses: [LanePause]) {
        state.withLock { state in
            state.holds = holds.filter { $0.scope.provider == .apns && ($0.scope.platform ?? .ios) == .ios }
            state.pauses = pauses.filter { $0.provider == .apns }
            state.probes.formIntersection(state.holds.map(\.id))
        }
    }

    func add(_ report: Standstill.Report) {
        guard !report.opened.isEmpty || !report.released.isEmpty || !report.paused.isEmpty else { return }
        state.withLock { state in
            let opened = Set(report.opened.map(\.id))
            state.holds.removeAll { opened.contains($0.id) || report.released.contains($0.id) }
            state.holds += report.opened
            state.probes.subtract(report.released)
            for pause in report.paused {
                state.pauses.removeAll { $0.app == pause.app }
                state.pauses.append(pause)
            }
        }
    }

    /// How a push of this place stands; a probe is taken by asking.
    func take(_ place: LivePlace, credential: String, now: Timestamp) -> Standing {
        state.withLock { state in
            if let until = state.paused(place.app, now: now) { return .keptBack(until: until) }
            let covering = state.holds.filter { $0.scope.isOf(place) }
            guard let hold = covering.first(where: { $0.scope.credential == credential }) else { return .free(proves: covering.map(\.id)) }
            if state.probes.remove(hold.id) != nil { return .free(proves: covering.map(\.id)) }
            state.keptBack.insert(place)
            return .keptBack(until: now + StandstillBoard.patience)
        }
    }

    /// Places nothing is to be claimed for.
    func blocked(credential: (LivePlace) -> String, now: Timestamp) -> (places: Set<LivePlace>, hasProbes: Bool) {
        let (holds, pauses, probes) = state.withLock { ($0.holds, $0.pauses, $0.probes) }
        var places: Set<LivePlace> = []
        for hold in holds where !probes.contains(hold.id) {
            let place = LivePlace(app: hold.scope.app, environment: hold.scope.environment)
            if hold.scope.credential == credential(place) { places.insert(place) }
        }
        for pause in pauses where pause.until > now {
            for environment in PushEnvironment.allCases { places.insert(LivePlace(app: pause.app, environment: environment)) }
        }
        return (places, !probes.isEmpty)
    }

    /// Holds for which somebody should make a try now.
    func due(credential: (LivePlace) -> String, now: Timestamp) -> [(hold: SendHold, place: LivePlace, isWanted: Bool)] {
        let (holds, probes, keptBack) = state.withLock { ($0.holds, $0.probes, $0.keptBack) }
        return holds.compactMap { hold in
            let place = LivePlace(app: hold.scope.app, environment: hold.scope.environment)
            guard !probes.contains(hold.id), HoldDecision.isProbeDue(hold, credential: credential(place), now: now) else { return nil }
            return (hold, place, keptBack.contains(place))
        }
    }

    func giveProbe(of hold: SendHold, at place: LivePlace) {
        state.withLock { state in
            state.probes.insert(hold.id)
            state.keptBack.remove(place)
        }
    }
}

extension StandstillBoard.State {
    func paused(_ app: String, now: Timestamp) -> Timestamp? { pauses.first { $0.app == app && $0.until > now }?.until }
}

extension HoldScope {
    fileprivate func isOf(_ place: LivePlace) -> Bool { app == place.app && environment == place.environment }
}
