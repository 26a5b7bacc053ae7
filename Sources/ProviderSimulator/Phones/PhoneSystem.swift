import PushClient
import PushContract
import Synchronization

/// The operating system as the client on a simulated phone sees it. Answers at once where the phone knows; what the phone has to do comes
/// as a request that it fetches. Safe to share.
final class PhoneSystem: PushSystem {
    enum Request: Sendable {
        case pushToken
        case end(activityId: String)
        case show(SystemActivity, ActivityRequest)
    }

    private struct State {
        var behaviour: PhoneBehaviour
        var hasAnswered = false
        var startToken: String?
        var shown: [SystemActivity] = []
        var requests: [Request] = []
        var isInForeground = false
        var started = 0
    }

    private let state: Mutex<State>

    private let name: String

    /// - Parameter name: Distinguishes the activities that its app starts from those of other phones.
    init(behaviour: PhoneBehaviour, name: String) {
        state = Mutex(State(behaviour: behaviour))
        self.name = name
    }

    var startToken: String? {
        get { state.withLock { $0.startToken } }
        set { state.withLock { $0.startToken = newValue } }
    }

    var shown: [SystemActivity] {
        get { state.withLock { $0.shown } }
        set { state.withLock { $0.shown = newValue } }
    }

    var isInForeground: Bool {
        get { state.withLock { $0.isInForeground } }
        set { state.withLock { $0.isInForeground = newValue } }
    }

    func nextRequest() -> Request? { state.withLock { $0.requests.isEmpty ? nil : $0.requests.removeFirst() } }

    func askPermission() async -> PushPermission {
        state.withLock { state in
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

    /// In the foreground only, as on a phone.
    func requestActivity(_ request: ActivityRequest) async -> SystemActivity? {
        state.withLock { state in
            guard state.isInForeground, state.behaviour.allowsActivities else { return nil }
            state.started += 1
            let activity = SystemActivity(
                activityId: "\(name)-started-\(state.started)",
                subject: .match(request.attributes.matchId),
                contentDate: Timestamp(seconds: request.state.updatedAt)
            )
            state.requests.append(.show(activity, request))
            return activity
        }
    }

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
