import PushClient
import PushContract
import ServiceKit

/// What a push does on the phone.
extension SimulatedPhone {
    func receive(_ push: RecordedRequest) async {
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
            activityId: identity.identifier("activity\(setup.boot)", serial),
            matchId: attributes["matchId"]?.string ?? "",
            instance: attributes["instance"]?.integer.map(Int.init),
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
        if let channel = push.header("apns-channel-id") { return activity.channel == channel }
        return activity.updateToken.map(SimulatorState.canonical) == push.token
    }
}

extension SystemActivity {
    init(_ activity: ShownActivity) {
        self.init(
            activityId: activity.activityId,
            matchId: activity.matchId,
            instance: activity.instance,
            updateToken: activity.updateToken
        )
    }
}
