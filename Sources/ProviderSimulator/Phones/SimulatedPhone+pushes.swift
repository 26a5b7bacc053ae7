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
        case "update": update(aps, push)
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
            subject: ActivitySubject(aps["attributes-type"]?.string ?? "", attributes),
            instance: attributes["instance"]?.integer.map(Int.init),
            startedAt: moment,
            byPush: true,
            timestamp: aps["timestamp"]?.integer ?? 0
        )
        activity.contentState = aps["content-state"]
        activity.staleDate = aps["stale-date"]?.integer
        if let channel = aps["input-push-channel"]?.string {
            activity.channel = channel
            network.join(channel: channel, mailbox: mailbox)
        }
        show(activity)
        tally.starts += 1
        await wake { await $0.activityAppeared(SystemActivity(activity)) }
    }

    /// Changes what is shown; the app does not run.
    private func update(_ aps: JSONValue, _ push: RecordedRequest) {
        let stamp = aps["timestamp"]?.integer ?? 0
        for index in activities.indices where isFor(activities[index], push) && activities[index].dismissalAt == nil {
            // The system keeps the newest content.
            guard stamp >= activities[index].timestamp else { continue }
            activities[index].timestamp = stamp
            activities[index].contentState = aps["content-state"]
            activities[index].staleDate = aps["stale-date"]?.integer
            activities[index].updates += 1
            tally.updates += 1
        }
        system.shown = activities.map(SystemActivity.init)
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

extension ActivitySubject {
    /// As an app reads it from the attributes of an activity.
    fileprivate init(_ type: String, _ attributes: JSONValue) {
        let activityId = attributes["activityId"]?.string ?? ""
        self =
            type == String(describing: MatchActivityAttributes.self)
            ? .match(attributes["matchId"]?.string ?? "") : .custom(attributesType: type, activityId: activityId)
    }
}

extension SystemActivity {
    /// The date is what an app can read: it sees neither the push nor `aps.timestamp`.
    init(_ activity: ShownActivity) {
        let date =
            switch activity.subject {
            case .match: activity.contentState?["updatedAt"]?.integer
            case .custom: activity.staleDate.map { $0 - 1800 }
            }
        self.init(
            activityId: activity.activityId,
            subject: activity.subject,
            instance: activity.instance,
            contentDate: date.map { Timestamp(seconds: $0) },
            updateToken: activity.updateToken
        )
    }
}
