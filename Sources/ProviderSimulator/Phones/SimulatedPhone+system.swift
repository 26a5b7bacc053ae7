import Foundation
import PushClient
import PushContract
import ServiceKit

/// What the system does on the phone: it starts the app's process, hands out tokens and takes them back.
extension SimulatedPhone {
    /// New tokens, as after a system update: the phone has restarted. The old ones are dead.
    func rotateTokens() {
        kill()
        retireTokens()
        identity.tokenGeneration += 1
        routeTokens()
        system.startToken = startTokenIfAny
    }

    /// APNs gives up the push token, and the system has another when it is asked.
    package func losePushToken() {
        retire(pushToken)
        identity.pushTokenChanges += 1
        routeTokens()
    }

    /// The system takes the cards away, and the app is not notified: their update tokens are dead.
    package func loseCards() {
        for activity in activities { retire(activity.updateToken) }
        activities = []
        system.shown = []
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
        system = PhoneSystem(behaviour: setup.behaviour, name: setup.name + setup.boot)
        routeTokens()
    }

    /// The update token of a running activity changes.
    func rotateUpdateToken(of matchId: String) async {
        guard let index = activities.firstIndex(where: { $0.matchId == matchId && $0.updateToken != nil }) else { return }
        retire(activities[index].updateToken)
        await issueUpdateToken(index)
        await settle()
    }

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
        let client = PushwatchClient(
            device: device,
            system: system,
            transport: transport,
            storage: disk,
            secrets: keychain,
            now: now,
            // Not that of the machine it runs on.
            boot: { nil },
            newId: { made.next() }
        )
        // Ids go on where the last process of this phone left off.
        operations += 1_000_000
        self.client = client
        await client.launch()
        await settle()
    }

    /// Answers the client's requests to the system until there are none.
    func settle() async {
        guard let client else { return }
        while let request = system.nextRequest() {
            switch request {
            case .pushToken:
                if setup.behaviour.permission.allowsRegistration { await client.pushTokenReceived(pushToken) }
            case .end(let activityId): await remove(activityId, isDismissed: true)
            case .show(let activity, let request): await show(activity, request)
            }
        }
    }

    /// An activity that the app started: it has an update token without a tap on Allow.
    private func show(_ activity: SystemActivity, _ request: ActivityRequest) async {
        var shown = ShownActivity(
            activityId: activity.activityId,
            subject: .match(request.attributes.matchId),
            instance: nil,
            startedAt: now(),
            byPush: false,
            timestamp: request.state.updatedAt
        )
        shown.contentState = (try? JSONEncoder().encode(request.state)).flatMap { JSONValue(bytes: Array($0)) }
        show(shown)
        tally.starts += 1
        if let index = activities.firstIndex(where: { $0.activityId == activity.activityId }) { await issueUpdateToken(index) }
    }

    var startTokenIfAny: String? {
        PushDevice(deviceId: "", app: "", osVersion: setup.osVersion, appVersion: "").hasStartTokens && setup.behaviour.allowsActivities
            ? startToken : nil
    }

    func routeTokens() {
        network.route(token: pushToken, to: mailbox)
        network.route(token: startToken, to: mailbox)
    }

    func retireTokens() {
        retire(pushToken)
        retire(startToken)
    }

    /// APNs answers 410 from now on.
    func retire(_ token: String?) {
        guard let token else { return }
        network.unroute(token: token)
        simulator?.setToken(token, ScriptedToken(dead: true, since: now().milliseconds))
    }
}
