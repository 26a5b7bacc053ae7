import Foundation
import PushClient
import PushContract
import Synchronization

/// A client with a scripted server and a scripted system.
final class ClientBench: Sendable {
    let storage = MemoryStorage()
    let transport = ScriptedTransport()
    let system = ScriptedSystem()
    private let clock = Mutex(Timestamp(seconds: 1_000_000))
    private let started = Mutex<Timestamp?>(Timestamp(seconds: 0))
    private let counter = Mutex(0)
    private let log = Mutex<[ClientEvent]>([])

    var now: Timestamp {
        get { clock.withLock { $0 } }
        set { clock.withLock { $0 = newValue } }
    }

    /// When the device was started; nil if the system does not say.
    var boot: Timestamp? {
        get { started.withLock { $0 } }
        set { started.withLock { $0 = newValue } }
    }

    var events: [ClientEvent] { log.withLock { $0 } }

    func advance(by seconds: Int64) { clock.withLock { $0 = $0 + .seconds(seconds) } }

    static func registered(_ request: PushRequest) -> PushResponse {
        PushResponse(status: 200, body: Array((request.path == "/devices" ? #"{"unregisterSecret": "pwd_secret"}"# : "{}").utf8))
    }

    /// With a client that was launched and has a user.
    static func signedIn() async -> (bench: ClientBench, client: PushwatchClient) {
        let bench = ClientBench()
        let client = bench.client()
        await client.launch()
        await client.signedIn(uid: "ann")
        return (bench, client)
    }

    func client(osVersion: String = "18.2", locale: String? = nil) -> PushwatchClient {
        PushwatchClient(
            device: PushDevice(deviceId: "device", app: "a", osVersion: osVersion, appVersion: "1", locale: locale),
            system: system,
            transport: transport,
            storage: storage,
            secrets: storage,
            now: { self.clock.withLock { $0 } },
            boot: { self.boot },
            newId: {
                self.counter.withLock { counter in
                    counter += 1
                    return "op-\(counter)"
                }
            },
            events: { event in self.log.withLock { $0.append(event) } }
        )
    }
}

/// Answers requests by a script and records them.
final class ScriptedTransport: PushTransport {
    private let calls = Mutex<[PushRequest]>([])
    private let script = Mutex<@Sendable (PushRequest) -> PushResponse?>({ ClientBench.registered($0) })

    private let meanwhile = Mutex<@Sendable (PushRequest) async -> Void>({ _ in })

    var sent: [PushRequest] { calls.withLock { $0 } }

    var answer: @Sendable (PushRequest) -> PushResponse? {
        get { script.withLock { $0 } }
        set { script.withLock { $0 = newValue } }
    }

    /// What happens before an answer arrives.
    var whileAnswering: @Sendable (PushRequest) async -> Void {
        get { meanwhile.withLock { $0 } }
        set { meanwhile.withLock { $0 = newValue } }
    }

    func send(_ request: PushRequest) async -> PushResponse? {
        calls.withLock { $0.append(request) }
        await meanwhile.withLock { $0 }(request)
        return answer(request)
    }
}

/// A system that shows what it is set to, and records what it is asked for.
final class ScriptedSystem: PushSystem {
    struct State {
        var permission = PushPermission.authorized
        var areActivitiesAllowed = true
        var allowsRequests = true
        var startToken: String?
        var startTokens: [String: String] = [:]
        var activities: [SystemActivity] = []
        var prompts = 0
        var asked = 0
        var requested: [ActivityRequest] = []
        var ended: [String] = []
    }

    private let state = Mutex(State())

    /// What it shows, and what it was asked for.
    var now: State {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    func askPermission() async -> PushPermission {
        state.withLock { state in
            state.prompts += 1
            return state.permission
        }
    }

    func readPermission() async -> PushPermission { now.permission }
    func askForPushToken() async { state.withLock { $0.asked += 1 } }
    func areActivitiesAllowed() async -> Bool { now.areActivitiesAllowed }
    func pushToStartToken() async -> String? { now.startToken }
    func pushToStartTokens() async -> [String: String] { now.startTokens }
    func activities() async -> [SystemActivity] { now.activities }

    func requestActivity(_ request: ActivityRequest) async -> SystemActivity? {
        state.withLock { state in
            state.requested.append(request)
            guard state.allowsRequests else { return nil }
            let activity = SystemActivity(
                activityId: "started-\(state.requested.count)",
                subject: .match(request.attributes.matchId),
                contentDate: Timestamp(seconds: request.state.updatedAt)
            )
            state.activities.append(activity)
            return activity
        }
    }

    func endActivity(_ activityId: String) async {
        state.withLock { state in
            state.ended.append(activityId)
            state.activities.removeAll { $0.activityId == activityId }
        }
    }
}
