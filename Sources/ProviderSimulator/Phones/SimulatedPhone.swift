package import PushClient
package import PushContract

/// A phone without a phone: the real client code over a simulated system, fed by what the provider simulator accepts.
///
/// It does nothing by itself: `step()` lets it look at its pushes, at the time, and at its queue. With an injected clock it behaves the
/// same each time. `PhoneFleet` steps many of them as a service.
///
/// The app on it is running only while it is open. After `leave()` the system suspends it: it then runs only for what wakes an app (a push
/// that starts an activity, a new update token), and sees everything else when it is opened again.
package actor SimulatedPhone {
    package struct Setup: Sendable {
        /// Distinguishes phones; tokens and ids follow from it.
        package var name: String
        /// Distinguishes one run of the same phone from the next: what is made as it goes (activities, update tokens, operations) is never
        /// the same again.
        package var boot = ""
        package var app = "com.example.scores"
        package var environment = PushEnvironment.sandbox
        package var osVersion = "18.2"
        package var appVersion = "3.2.0"
        var behaviour = PhoneBehaviour()

        package init(name: String) { self.name = name }
    }

    var setup: Setup
    package nonisolated let name: String
    package nonisolated let transport: PhoneTransport
    let network: PhoneNetwork
    let simulator: ProviderSimulator?
    let now: @Sendable () -> Timestamp
    let mailbox = PhoneNetwork.Mailbox()
    let keychain = MemoryStorage()
    var disk = MemoryStorage()
    var client: PushwatchClient?
    var system: PhoneSystem
    /// The app is open.
    private(set) var isInForeground = false
    /// What the system has to report to a suspended app.
    var unseen: [PhoneReport] = []
    var uid: String?
    var identity: PhoneIdentity
    var serial = 0
    var operations = 0
    var starts: [Timestamp] = []

    /// What the lock screen shows.
    package internal(set) var activities: [ShownActivity] = []
    /// Titles of alerts that were shown.
    package internal(set) var alerts: [String] = []
    /// Starts that the system dropped because its budget was used up.
    var startsOverBudget = 0
    /// What its lock screen has shown since it was switched on.
    package internal(set) var tally = PhoneTally()

    package init(
        _ setup: Setup,
        transport: PhoneTransport,
        simulator: ProviderSimulator,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.setup = setup
        name = setup.name
        self.transport = transport
        self.simulator = simulator
        network = simulator.phones
        self.now = now
        system = PhoneSystem(behaviour: setup.behaviour, name: setup.name + setup.boot)
        identity = PhoneIdentity(name: setup.name)
    }

    package var deviceId: String { identity.deviceId }
    package var pushToken: String { identity.pushToken }
    package var startToken: String { identity.startToken }

    // MARK: What the person does

    /// Opens the app: a cold launch if it does not run, else the foreground.
    package func open(as user: String? = nil) async {
        isInForeground = true
        system.isInForeground = true
        if client == nil {
            await launch()
        } else {
            await reportUnseen()
            await client?.foreground()
        }
        if let user, user != uid {
            uid = user
            await client?.signedIn(uid: user)
        } else if let uid, client != nil {
            await client?.signedIn(uid: uid)
        }
        await settle()
    }

    /// Leaves the app, which the system suspends.
    package func leave() {
        isInForeground = false
        system.isInForeground = false
    }

    /// The system removes the app from memory.
    package func kill() {
        leave()
        client = nil
        unseen = []
    }

    /// - Parameter startsHere: The app starts the activity itself if the match is live.
    package func follow(_ matchId: String, startsHere: Bool = false) async {
        await client?.follow(matchId, startsHere: startsHere)
        await settle()
    }

    package func follow(_ subject: ActivitySubject) async {
        await client?.follow(subject)
        await settle()
    }

    package func unfollow(_ matchId: String) async { await unfollow(.match(matchId)) }

    package func unfollow(_ subject: ActivitySubject) async {
        await client?.unfollow(subject)
        await settle()
    }

    /// Swipes the activity of a subject away: a matchId, or `attributesType/activityId`.
    package func swipe(_ matchId: String) async {
        for activity in activities where activity.matchId == matchId { await remove(activity.activityId, isDismissed: true) }
        await settle()
    }

    func setOnline(_ isOnline: Bool) async {
        transport.setOnline(isOnline)
        if isOnline, isInForeground { await client?.connectivityRestored() }
        await settle()
    }

    package func bell(of matchId: String) async -> FollowButton? { await bell(of: .match(matchId)) }
    package func bell(of subject: ActivitySubject) async -> FollowButton? { await client?.followButton(of: subject) }
    package func followedDevices(of subject: ActivitySubject) async -> [FollowedDevice] {
        await client?.followedDevices(of: subject) ?? []
    }
    package var followed: Set<String> { get async { await client?.followedMatches ?? [] } }
}
