import Crypto
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
    private let network: PhoneNetwork
    private let simulator: ProviderSimulator?
    private let now: @Sendable () -> Timestamp
    private let mailbox = PhoneNetwork.Mailbox()
    private let keychain = MemoryStorage()
    private var disk = MemoryStorage()
    private var client: PushClient?
    private var system: PhoneSystem
    private var uid: String?
    private var installation = 0
    private var tokenGeneration = 0
    private var serial = 0
    private var operations = 0
    private var starts: [Timestamp] = []

    /// What the lock screen shows.
    package private(set) var activities: [ShownActivity] = []
    /// Titles of alerts that were shown.
    package private(set) var alerts: [String] = []
    /// Starts that the system dropped because its budget was used up.
    package private(set) var startsOverBudget = 0
    /// What its lock screen has shown since it was switched on.
    package private(set) var tally = PhoneTally()
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
    }

    package var deviceId: String { identifier("device", installation) }
    package var pushToken: String { hex("push", 32) }
    /// Longer than push tokens, as Apple's are.
    package var startToken: String { hex("start", 80) }
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
        tokenGeneration += 1
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
        installation += 1
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

    private func passTime() async {
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

    private func launch() async {
        routeTokens()
        system.startToken = startTokenIfAny
        let device = PushDevice(
            deviceId: deviceId,
            environment: setup.environment,
            app: setup.app,
            osVersion: setup.osVersion,
            appVersion: setup.appVersion
        )
        let prefix = identifier("operation\(setup.boot)", installation)
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
    private func settle() async {
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

    // MARK: Pushes

    private func receive(_ push: RecordedRequest) async {
        guard let payload = JSONValue(bytes: Array(push.body.utf8)), let aps = payload["aps"] else { return }
        guard push.header("apns-push-type") == "liveactivity" else {
            if let title = aps["alert"]?["title"]?.string ?? aps["alert"]?.string { alerts.append(title) }
            return
        }
        switch aps["event"]?.string {
        case "start": await start(aps)
        case "update": await update(aps, push)
        case "end": await end(aps, push)
        default: break
        }
    }

    private func start(_ aps: JSONValue) async {
        let moment = now()
        starts.removeAll { moment - $0 > .seconds(3600) }
        guard setup.behaviour.allowsActivities, starts.count < setup.behaviour.startBudget else {
            startsOverBudget += 1
            return
        }
        starts.append(moment)
        guard let attributes = aps["attributes"] else { return }
        serial += 1
        var activity = ShownActivity(
            activityId: identifier("activity\(setup.boot)", serial),
            matchId: attributes["matchId"]?.string ?? "",
            generation: attributes["generation"]?.integer.map(Int.init),
            startedAt: moment,
            byPush: true,
            timestamp: aps["timestamp"]?.integer ?? 0
        )
        activity.contentState = aps["content-state"]
        if let channel = aps["input-push-channel"]?.string {
            activity.channel = channel
            network.join(channel: channel, mailbox: mailbox)
        }
        show(activity)
        tally.starts += 1
        // A push that starts an activity wakes the app in the background.
        if client == nil { await launch() }
        if let uid { await client?.signedIn(uid: uid) }
        await client?.activityAppeared(SystemActivity(activity))
        await settle()
    }

    private func update(_ aps: JSONValue, _ push: RecordedRequest) async {
        let stamp = aps["timestamp"]?.integer ?? 0
        var updated: [String] = []
        for index in activities.indices where isFor(activities[index], push) && activities[index].dismissalAt == nil {
            // The system keeps the newest content.
            guard stamp >= activities[index].timestamp else { continue }
            activities[index].timestamp = stamp
            activities[index].contentState = aps["content-state"]
            activities[index].updates += 1
            tally.updates += 1
            updated.append(activities[index].activityId)
        }
        for activityId in updated { await client?.activityUpdated(activityId) }
    }

    private func end(_ aps: JSONValue, _ push: RecordedRequest) async {
        for index in activities.indices where isFor(activities[index], push) {
            if let state = aps["content-state"] { activities[index].contentState = state }
            if activities[index].dismissalAt == nil { tally.ends += 1 }
            let dismissal = aps["dismissal-date"]?.integer ?? (now().seconds + 4 * 3600)
            activities[index].dismissalAt = Timestamp(seconds: dismissal)
        }
        await passTime()
    }

    private func isFor(_ activity: ShownActivity, _ push: RecordedRequest) -> Bool {
        if let token = push.token { return activity.updateToken.map(SimulatorState.canonical) == token }
        return activity.channel != nil && activity.channel == push.header("apns-channel-id")
    }

    private func issueUpdateToken(_ index: Int) async {
        serial += 1
        let token = hex("update-\(setup.boot)\(serial)", 64)
        activities[index].updateToken = token
        network.route(token: token, to: mailbox)
        system.shown = activities.map(SystemActivity.init)
        await client?.updateTokenReceived(token, activityId: activities[index].activityId)
    }

    private func show(_ activity: ShownActivity) {
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

    private func hex(_ kind: String, _ bytes: Int) -> String {
        var text = ""
        var round = 0
        while text.count < bytes * 2 {
            text += SHA256.hash(data: Array("\(setup.name)/\(kind)/\(installation)/\(tokenGeneration)/\(round)".utf8)).hexDigits
            round += 1
        }
        return String(text.prefix(bytes * 2))
    }

    private func identifier(_ kind: String, _ number: Int) -> String {
        let digits = Array(SHA256.hash(data: Array("\(setup.name)/\(kind)/\(number)".utf8)).hexDigits.uppercased())
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return parts.joined(separator: "-")
    }
}

extension SystemActivity {
    fileprivate init(_ activity: ShownActivity) {
        self.init(
            activityId: activity.activityId,
            matchId: activity.matchId,
            generation: activity.generation,
            updateToken: activity.updateToken
        )
    }
}
