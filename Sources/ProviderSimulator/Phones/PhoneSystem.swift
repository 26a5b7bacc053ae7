import PushClient
import Synchronization

/// The operating system as the client on a simulated phone sees it. Answers at once where the phone knows; what the phone has to do comes
/// as a request that it fetches. Safe to share.
final class PhoneSystem: PushSystem {
    enum Request: Sendable {
        case pushToken
        case end(activityId: String)
    }

    private struct State {
        var behaviour: PhoneBehaviour
        var prompts = 0
        var hasAnswered = false
        var startToken: String?
        var shown: [SystemActivity] = []
        var requests: [Request] = []
    }

    private let state: Mutex<State>

    init(behaviour: PhoneBehaviour) { state = Mutex(State(behaviour: behaviour)) }

    var prompts: Int { state.withLock { $0.prompts } }

    var startToken: String? {
        get { state.withLock { $0.startToken } }
        set { state.withLock { $0.startToken = newValue } }
    }

    var shown: [SystemActivity] {
        get { state.withLock { $0.shown } }
        set { state.withLock { $0.shown = newValue } }
    }

    func set(_ behaviour: PhoneBehaviour) { state.withLock { $0.behaviour = behaviour } }

    func nextRequest() -> Request? { state.withLock { $0.requests.isEmpty ? nil : $0.requests.removeFirst() } }

    func askPermission() async -> PushPermission {
        state.withLock { state in
            state.prompts += 1
            state.hasAnswered = true
            return state.behaviour.permission
        }
    }

    func readPermission() async -> PushPermission {
        state.withLock { $0.hasAnswered ? $0.behaviour.permission : .notDetermined }
    }

    func askForPushToken() async { state.withLock { $0.requests.append(.pushToken) } }

    func areActivitiesAllowed() async -> Bool { state.withLock { $0.behaviour.allowsActivities } }

    func pushToStartToken() async -> String? { startToken }

    func activities() async -> [SystemActivity] { shown }

    /// Started by the server alone: what the phones are to show.
    func requestActivity(matchId: String) async -> SystemActivity? { nil }

    func endActivity(_ activityId: String) async { state.withLock { $0.requests.append(.end(activityId: activityId)) } }
}

/// Ids of operations, unique for an installation.
final class OperationCounter: Sendable {
    private let prefix: String
    private let number: Mutex<Int>

    init(prefix: String, first: Int) {
        self.prefix = prefix
        number = Mutex(first)
    }

    func next() -> String {
        number.withLock { number in
            number += 1
            return "\(prefix)-\(number)"
        }
    }
}
