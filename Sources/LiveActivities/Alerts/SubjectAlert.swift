package import PushContract

/// An alert that one state of a subject brought. It is due to a device until the device was sent that state or a newer one.
package struct SubjectAlert: Sendable, Hashable {
    /// Nobody is alerted of something that long ago.
    package static let freshness = Duration.seconds(120)
    /// Kept for longer, so that what became too old is counted.
    static let retention = Duration.seconds(600)

    /// `aps.timestamp` of the state.
    package var timestamp: Int64
    package var builtAt: Timestamp
    /// 1 is the most important.
    package var priority: Int
    package var alert: LiveSubject.Alert

    package init(timestamp: Int64, builtAt: Timestamp, priority: Int, alert: LiveSubject.Alert) {
        self.timestamp = timestamp
        self.builtAt = builtAt
        self.priority = priority
        self.alert = alert
    }

    func isFresh(now: Timestamp) -> Bool { now - builtAt <= SubjectAlert.freshness }
}
