import PushClient

/// What the system reports to the app. A suspended app receives it when it runs again.
enum PhoneReport: Sendable {
    case gone(activityId: String, isDismissed: Bool)
    case updateToken(String, activityId: String)
    case startToken(String)
}

extension SimulatedPhone {
    /// Reports now if the app is open, else when it runs next. A process that does not exist receives nothing: it reads the state at
    /// launch.
    func report(_ report: PhoneReport) async {
        guard client != nil else { return }
        unseen.append(report)
        if isInForeground { await reportUnseen() }
    }

    func reportUnseen() async {
        while !unseen.isEmpty {
            switch unseen.removeFirst() {
            case .gone(let activityId, let isDismissed): await client?.activityGone(activityId, isDismissed: isDismissed)
            case .updateToken(let token, let activityId): await client?.updateTokenReceived(token, activityId: activityId)
            case .startToken(let token): await client?.startTokenReceived(token)
            }
        }
    }

    /// The system runs the app in the background for a moment.
    func wake(_ body: (PushwatchClient) async -> Void = { _ in }) async {
        if client == nil {
            await launch()
            if let uid { await client?.signedIn(uid: uid) }
        }
        await reportUnseen()
        if let client {
            await body(client)
            await client.work()
        }
        await settle()
    }
}
