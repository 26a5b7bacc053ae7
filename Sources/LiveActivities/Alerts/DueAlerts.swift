import PushContract

/// What one push makes of the alerts that are due to its device: it shows the most important one, of several equals the newest. Pure.
struct DueAlerts: Sendable, Hashable {
    private(set) var shown: SubjectAlert?
    /// How many others the shown one stands for.
    private(set) var merged = 0
    /// How many are too old to alert anybody.
    private(set) var expired = 0

    /// Nothing is due.
    init() {}

    /// - Parameters:
    ///   - alerts: of the subject, the newest last.
    ///   - timestamp: of the newest state that the device was sent.
    ///   - since: what is older than the activity is none of its business.
    init(_ alerts: [SubjectAlert], after timestamp: Int64, since: Timestamp?, now: Timestamp) {
        for alert in alerts.reversed() {
            guard alert.timestamp > timestamp, since.map({ alert.builtAt >= $0 }) ?? true else { break }
            guard alert.isFresh(now: now) else {
                expired += 1
                continue
            }
            if shown != nil { merged += 1 }
            if shown.map({ alert.priority < $0.priority }) ?? true { shown = alert }
        }
    }

    /// All that may be shown to any device from now on.
    static func candidates(_ alerts: [SubjectAlert], now: Timestamp) -> [SubjectAlert] {
        alerts.reversed().reduce(into: []) { candidates, alert in
            guard alert.isFresh(now: now), candidates.last.map({ alert.priority < $0.priority }) ?? true else { return }
            candidates.append(alert)
        }
    }
}
