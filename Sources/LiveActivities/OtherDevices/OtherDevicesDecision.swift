import PushContract

/// What was put into the queue for a subject's devices without Live Activities.
struct OtherDevicesProgress: Sendable, Hashable {
    /// Of the newest state that left; 0: none has.
    var stateTimestamp: Int64 = 0
    var sentAt: Timestamp?
    /// The order of the latest send.
    var sentOrder: Int64 = 0
    /// Alerts up to this one have left, or stood back behind another.
    var alertTimestamp: Int64 = 0
    /// The alert that was shown last.
    var shownAlert: Int64 = 0
    /// The latest send was the end.
    var hasEnded = false
    /// The latest send of each kind.
    var liveUpdateSendId: String?
    var keyEventSendId: String?

    /// Whether the end of this subject has left, with its last state. That of its day, or of its silent source, is another one.
    func hasSentEnd(of subject: LiveSubject) -> Bool {
        hasEnded && (subject.endedAt == nil || stateTimestamp >= subject.timestamp)
    }

    /// Whether what is shown of this subject still gets states: those of the evening. A correction at night starts nothing.
    func goesOn(in subject: LiveSubject, now: Timestamp) -> Bool { subject.isShown(now: now) && stateTimestamp > 0 && !hasEnded }

    /// Whether the end of this subject has left with a last state that was corrected since.
    func isCorrected(by subject: LiveSubject) -> Bool {
        guard hasEnded, subject.isOver, let endedAt = subject.endedAt else { return false }
        return stateTimestamp >= endedAt.seconds && stateTimestamp < subject.timestamp
    }
}

/// What is due to the devices of a subject that show no Live Activities. Pure.
struct OtherDevicesDecision: Sendable, Hashable {
    /// Between two states without an alert. States of a match come several times a second; each is a delivery of the queue for each Android
    /// device and wakes its app. Ten subjects at this rate are half of the 5,000 messages an hour that FCM takes for a device.
    static let shortestInterval = Duration.seconds(15)
    /// A state that follows another one so soon is soon followed by the next: FCM need not keep it for longer than `shortLifetime`. It
    /// keeps 100 messages of an app for a device, and drops all of them when there are more.
    static let closeAfter = Duration.seconds(120)
    static let shortLifetime = Duration.seconds(300)

    enum Event: Sendable, Hashable {
        case state
        case end(EndReason, cause: String?)
    }

    var event: Event
    /// The Live Update, with this alert; nil: none is due.
    var liveUpdate: Update?
    /// The push to the others.
    var keyEvent: LiveSubject.Alert?
    /// A start, critical update or end that its caller called critical.
    var isCritical = false
    /// Alerts that no device is sent.
    var undelivered: [AlertResult] = []
    var progress: OtherDevicesProgress

    struct Update: Sendable, Hashable {
        /// That is shown now.
        var alert: SubjectAlert?
        /// Whether it is new; else it is repeated for devices that the send which brought it has not reached.
        var isAlerting: Bool
    }

    /// Nil: nothing is due.
    ///
    /// - Parameters:
    ///   - alerts: of the subject up to its state, the newest last.
    ///   - isStoring: the Live Update before is not stored for all of many followers. Another one without an alert waits for it: it would
    ///     overtake it again and again, with those who are stored first.
    init?(
        _ subject: LiveSubject,
        alerts: [SubjectAlert],
        after progress: OtherDevicesProgress,
        _ policy: OtherDevicesPolicy,
        isStoring: Bool = false,
        now: Timestamp
    ) {
        guard let event = OtherDevicesDecision.event(subject, after: progress, now: now),
            event == .state || !progress.hasSentEnd(of: subject)
        else { return nil }
        // What was over, and is not any more, is a new state even if nothing has changed.
        let isNew = subject.timestamp > progress.stateTimestamp || progress.hasEnded || event != .state
        let isFirst = progress.stateTimestamp == 0 || progress.hasEnded && event == .state
        var alerts = alerts
        if isFirst, event == .state {
            alerts.append(
                SubjectAlert(timestamp: subject.timestamp, builtAt: subject.builtAt, priority: Int.max, alert: subject.startAlert)
            )
        }
        let due = DueAlerts(alerts, after: progress.alertTimestamp, since: nil, now: now)
        if event != .state, progress.stateTimestamp == 0, due.shown == nil { return nil }
        self.event = event
        self.progress = progress
        self.progress.stateTimestamp = subject.timestamp
        self.progress.sentAt = now
        self.progress.sentOrder = max(progress.sentOrder + 1, now.microseconds / 1000)
        self.progress.alertTimestamp = max(progress.alertTimestamp, subject.timestamp)
        self.progress.hasEnded = event != .state
        if let shown = due.shown { self.progress.shownAlert = shown.timestamp }
        isCritical = subject.attributesType != MatchSubject.attributesType && due.shown?.priority == 1

        let repeated = alerts.last { $0.timestamp == progress.shownAlert && $0.isFresh(now: now) }
        let update = Update(alert: due.shown ?? repeated, isAlerting: due.shown != nil)
        let isTime =
            event != .state || progress.hasEnded || !isStoring && progress.sentAt.map { now - $0 >= Self.shortestInterval } ?? true
        switch policy.android {
        case .states where due.shown != nil || isNew && isTime: liveUpdate = update
        case .alerts where due.shown != nil || event != .state: liveUpdate = update
        case .states, .alerts, .none: break
        }
        if policy.others == .alerts { keyEvent = due.shown?.alert }
        // Another push of the result would alert again, and stand next to the first one.
        if policy.others == .alerts, keyEvent == nil, policy.result, subject.isOver, !progress.isCorrected(by: subject) {
            let card = LiveUpdateCard(subject, policy.liveUpdate)
            keyEvent = LiveSubject.Alert(title: card.title, body: card.text)
        }
        guard liveUpdate != nil || keyEvent != nil || event != .state else { return nil }
        // What was there before anybody was sent anything is none of theirs.
        if !isFirst {
            undelivered = due.results(isAccepted: true).filter { $0.outcome != .accepted }
        }
    }

    /// When what it sends is of no use any more.
    func expiry(_ subject: LiveSubject, after earlier: Timestamp?, now: Timestamp) -> Timestamp {
        if event != .state { return now + LivePayloads.endLifetime }
        let staleDate = LivePayloads.staleDate(subject)
        let isClose = earlier.map { now - $0 < Self.closeAfter } ?? false
        return isClose && keyEvent == nil && liveUpdate?.isAlerting != true ? min(staleDate, now + Self.shortLifetime) : staleDate
    }

    /// Nil: nothing is shown of it. A state that is out of date, or would be at once, is none.
    private static func event(_ subject: LiveSubject, after progress: OtherDevicesProgress, now: Timestamp) -> Event? {
        if subject.isOver { return .end(.matchEnd, cause: nil) }
        if let restingFrom = subject.restingFrom, restingFrom <= now { return .end(.stumps, cause: nil) }
        guard subject.isLive || progress.goesOn(in: subject, now: now) else { return nil }
        if subject.freshness?.isLost(now: now) == true { return .end(.matchEnd, cause: Freshness.cause) }
        return subject.isFresh(now: now) && LivePayloads.staleDate(subject) > now ? .state : nil
    }
}
