package import PushContract
package import PushLifecycle

/// A phone without a phone: the real client code over a simulated system, fed by what the provider simulator accepts.
///
/// It does nothing by itself: `step()` lets it look at its pushes, at the time, and at its queue. With an injected clock it behaves the same
/// each time. `PhoneFleet` steps many of them as a service.
package actor SimulatedPhone {
    package struct Setup: Sendable {
        /// Tells phones apart; tokens and ids follow from it.
        package var name: String
        /// Tells one run of the same phone from the next: what is made as it goes (activities, update tokens, operations) is never the same
        /// again.
        package var boot = ""
        package var app = "com.example.scores"
        package var environment = PushEnvironment.sandbox
        package var osVersion = "18.2"
        package var appVersion = "3.2.0"
        package var behaviour = PhoneBehaviour()

        package init(name: String) { self.name = name }
    }

    package private(set) var setup: Setup
    package nonisolated let name: String
    package nonisolated let transport: PhoneTransport
    let network: PhoneNetwork
    private let simulator: ProviderSimulator?
    let now: @Sendable () -> Timestamp
    let mailbox = PhoneNetwork.Mailbox()
    private let keychain = MemoryStorage()
    private var disk = MemoryStorage()
    var client: PushClient?
    var system: PhoneSystem
    var uid: String?
    private(set) var identity: PhoneIdentity
    var serial = 0
    private var operations = 0
    var starts: [Timestamp] = []

    /// What the lock screen shows.
    package internal(set) var activities: [ShownActivity] = []
    /// Titles of alerts that were shown.
    package internal(set) var alerts: [String] = []
    /// Starts that the system dropped because its budget was used up.
    package internal(set) var startsOverBudget = 0
    /// What its lock screen has shown since it was switched on.
    package internal(set) var tally = PhoneTally()
    /// How often the notification prompt was shown.
    package var prompts: Int { system.prompts }

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
        system = PhoneSystem(behaviour: setup.behaviour)
        identity = PhoneIdentity(name: setup.name)
    }

    package var deviceId: String { identity.deviceId }
    package var pushToken: String { identity.pushToken }
    package var startToken: String { identity.startToken }
    package var isRunning: Bool { client != nil }

    // MARK: What the person does

    /// Opens the app: a cold launch if it does not run, else the foreground.
    package func open(as user: String? = nil) async {
        if client == nil {
            await launch()
        } else {
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

    /// The system removes the app from memory.
    package func kill() { client = nil }

    package func signOut() async {
        await client?.signOut()
        uid = nil
        await settle()
    }

    package func follow(_ matchId: String) async {
        await client?.follow(matchId)
        await settle()
    }

    package func unfollow(_ matchId: String) async {
        await client?.unfollow(matchId)
        await settle()
    }

    /// Swipes a match's activity away.
    package func swipe(_ matchId: String) async {
        for activity in activities where activity.matchId == matchId { await remove(activity.activityId, isDismissed: true) }
        await settle()
    }

    package func setPushEnabled(_ isEnabled: Bool) async {
        await client?.setPushEnabled(isEnabled)
        await settle()
    }

    /// In the system's settings; the app hears of it when it is opened next.
    package func setBehaviour(_ behaviour: PhoneBehaviour) {
        setup.behaviour = behaviour
        system.set(behaviour)
    }

    package func setOnline(_ isOnline: Bool) async {
        transport.setOnline(isOnline)
        if isOnline { await client?.connectivityRestored() }
        await settle()
    }

    package func bell(of matchId: String) async -> Bell? { await client?.bell(of: matchId) }
    package var pending: [PendingOperation] { get async { await client?.operations ?? [] } }
    package var followed: Set<String> { get async { await client?.followedMatches ?? [] } }

    // MARK: What the system does

    /// New tokens, as after a system update. The old ones are dead.
    package func rotateTokens() async {
        retireTokens()
        identity.tokenGeneration += 1
        routeTokens()
        system.startToken = startTokenIfAny
        guard client != nil else { return }
        await client?.pushTokenReceived(pushToken)
        if let token = startTokenIfAny { await client?.startTokenReceived(token) }
        await settle()
    }

    package func updateSystem(to version: String) async {
        setup.osVersion = version
        kill()
        await rotateTokens()
    }

    /// Deletes the app and installs it again: another device id, new tokens, an empty disk. The keychain stays, as on a phone.
    package func reinstall() {
        retireTokens()
        for activity in activities { retire(activity.updateToken) }
        activities = []
        system.shown = []
        kill()
        uid = nil
        identity.installation += 1
        disk = MemoryStorage()
        system = PhoneSystem(behaviour: setup.behaviour)
        routeTokens()
    }

    /// The update token of a running activity changes.
    package func rotateUpdateToken(of matchId: String) async {
        guard let index = activities.firstIndex(where: { $0.matchId == matchId && $0.updateToken != nil }) else { return }
        retire(activities[index].updateToken)
        await issueUpdateToken(index)
        await settle()
    }

    // MARK: Time

    /// Looks at what arrived, at what time brings, and tries what is due.
    package func step() async {
        for push in mailbox.takeAll() { await receive(push) }
        await passTime()
        await client?.work()
        await settle()
    }

    func passTime() async {
        let moment = now()
        for activity in activities {
            if let at = activity.dismissalAt, at <= moment {
                await remove(activity.activityId, isDismissed: false)
            } else if moment - activity.startedAt >= setup.behaviour.activityLifetime {
                await remove(activity.activityId, isDismissed: false)
            } else if activity.dismissalAt == nil, let after = setup.behaviour.dismissesAfter, moment - activity.startedAt >= after {
                await remove(activity.activityId, isDismissed: true)
            } else if activity.byPush, activity.updateToken == nil, activity.channel == nil, let after = setup.behaviour.tapsAllowAfter,
                moment - activity.startedAt >= after, let index = activities.firstIndex(where: { $0.activityId == activity.activityId })
            {
                await issueUpdateToken(index)
            }
        }
    }

    // MARK: The system's side of the client

    func launch() async {
        routeTokens()
        system.startToken = startTokenIfAny
        let device = PushDevice(
            deviceId: deviceId,
            environment: setup.environment,
            app: setup.app,
            osVersion: setup.osVersion,
            appVersion: setup.appVersion
        )
        let prefix = identity.identifier("operation\(setup.boot)", identity.installation)
        let made = OperationCounter(prefix: prefix, first: operations)
        let client = PushClient(
            device: device,
            system: system,
            transport: transport,
            storage: disk,
            secrets: keychain,
            now: now,
            newId: { made.next() }
        )
        // Ids go on where the last process of this phone left off.
        operations += 1_000_000
        self.client = client
        await client.launch()
        await settle()
    }

    /// Answers what the client asked of the system, until it asks nothing more.
    func settle() async {
        guard let client else { return }
        while let request = system.nextRequest() {
            switch request {
            case .pushToken:
                if setup.behaviour.permission.allowsRegistration { await client.pushTokenReceived(pushToken) }
            case .end(let activityId): await remove(activityId, isDismissed: true)
            }
        }
    }

    private var startTokenIfAny: String? {
        PushDevice(deviceId: "", app: "", osVersion: setup.osVersion, appVersion: "").hasStartTokens && setup.behaviour.allowsActivities
            ? startToken : nil
    }

    // MARK: The lock screen

    private func issueUpdateToken(_ index: Int) async {
        serial += 1
        let token = identity.updateToken(setup.boot, serial)
        activities[index].updateToken = token
        network.route(token: token, to: mailbox)
        system.shown = activities.map(SystemActivity.init)
        await client?.updateTokenReceived(token, activityId: activities[index].activityId)
    }

    func show(_ activity: ShownActivity) {
        activities.append(activity)
        system.shown = activities.map(SystemActivity.init)
    }

    private func remove(_ activityId: String, isDismissed: Bool) async {
        guard let index = activities.firstIndex(where: { $0.activityId == activityId }) else { return }
        let activity = activities.remove(at: index)
        retire(activity.updateToken)
        system.shown = activities.map(SystemActivity.init)
        await client?.activityGone(activityId, isDismissed: isDismissed)
    }

    // MARK: Tokens

    private func routeTokens() {
        network.route(token: pushToken, to: mailbox)
        network.route(token: startToken, to: mailbox)
    }

    private func retireTokens() {
        retire(pushToken)
        retire(startToken)
    }

    /// APNs answers 410 from now on.
    private func retire(_ token: String?) {
        guard let token else { return }
        network.unroute(token: token)
        simulator?.setToken(token, ScriptedToken(dead: true, since: now().milliseconds))
    }
}
