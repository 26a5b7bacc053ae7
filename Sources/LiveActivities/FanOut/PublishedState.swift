package import Providers
package import PushContract

/// A state as it goes to all followers of its subject.
package struct PublishedState: Sendable {
    package var subject: String
    /// Of the process that published it: distinguishes its attempts from another's.
    package var epoch: Int64 = 1
    package var timestamp: Int64
    package var hash: String
    package var builtAt: Timestamp
    package var event: KeyEventClass
    /// Of this state and of earlier ones, the newest last.
    package var alerts: [SubjectAlert] = []
    /// Built once; only the priority and the alert differ from device to device.
    package var message: PushMessage
    /// The same with each alert that may be shown, by its timestamp.
    package var alerted: [Int64: PushMessage] = [:]
    /// The same for channels.
    package var broadcast: LiveActivityPush
}

extension PublishedState {
    init(_ subject: LiveSubject, alerts: [SubjectAlert], now: Timestamp) throws(PushError) {
        self.subject = subject.id
        epoch = subject.epoch
        timestamp = subject.timestamp
        hash = subject.stateHash
        builtAt = subject.builtAt
        event = alerts.last?.timestamp == subject.timestamp ? .alerting : subject.event
        self.alerts = alerts
        message = try LivePayloads.update(subject, alert: nil)
        broadcast = LivePayloads.broadcast(subject, alert: nil)
        // An alert was checked together with its own state. Where it does not fit this one, the state goes without it.
        for alert in DueAlerts.candidates(alerts, now: now) {
            alerted[alert.timestamp] = try? LivePayloads.update(subject, alert: alert.alert)
        }
    }

    /// The alert that goes with the state; nil: none is due, or it does not fit.
    func shown(_ due: DueAlerts) -> SubjectAlert? { due.shown.flatMap { alerted[$0.timestamp] == nil ? nil : $0 } }

    func message(_ due: DueAlerts) -> PushMessage { due.shown.flatMap { alerted[$0.timestamp] } ?? message }
}
