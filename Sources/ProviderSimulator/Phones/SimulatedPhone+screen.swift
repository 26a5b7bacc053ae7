import PushClient
import PushContract

/// What is on the lock screen, and what time does to it.
extension SimulatedPhone {
    /// Looks at what arrived, at what time brings, and tries what is due.
    package func step() async {
        for push in mailbox.takeAll() { await receive(push) }
        await passTime()
        if isInForeground { await client?.work() }
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

    func issueUpdateToken(_ index: Int) async {
        serial += 1
        let token = identity.updateToken(setup.boot, serial)
        activities[index].updateToken = token
        network.route(token: token, to: mailbox)
        system.shown = activities.map(SystemActivity.init)
        let activityId = activities[index].activityId
        await wake { await $0.updateTokenReceived(token, activityId: activityId) }
    }

    func show(_ activity: ShownActivity) {
        activities.append(activity)
        system.shown = activities.map(SystemActivity.init)
    }

    func remove(_ activityId: String, isDismissed: Bool) async {
        guard let index = activities.firstIndex(where: { $0.activityId == activityId }) else { return }
        let activity = activities.remove(at: index)
        retire(activity.updateToken)
        system.shown = activities.map(SystemActivity.init)
        await report(.gone(activityId: activityId, isDismissed: isDismissed))
    }
}
