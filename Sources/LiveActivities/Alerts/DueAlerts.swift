import Providers
import PushContract

/// What one push makes of the alerts that are due to its device: it shows the most important one, of several equals the newest. Pure.
struct DueAlerts: Sendable, Hashable {
    private(set) var shown: SubjectAlert?
    /// Others, which the shown one replaces.
    private(set) var merged: [SubjectAlert] = []
    /// What is too old to alert anybody.
    private(set) var expired: [SubjectAlert] = []
    /// Whether the shown one fits the push.
    private(set) var fits = true

    /// What the push shows.
    var alert: LiveSubject.Alert? { fits ? shown?.alert : nil }

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
                expired.append(alert)
                continue
            }
            guard let other = shown else {
                shown = alert
                continue
            }
            let isFirst = alert.priority < other.priority
            if isFirst { shown = alert }
            merged.append(isFirst ? other : alert)
        }
    }

    /// Leaves the shown one out where the push is too large with it: an alert is checked together with its own state alone.
    ///
    /// - Parameter message: of the push with an alert; throws when it is too large.
    mutating func check(_ message: (LiveSubject.Alert) throws -> PushMessage) {
        fits = shown.map { (try? message($0.alert)) != nil } ?? true
    }

    /// What became of each once the push was accepted, or refused for good.
    func results(isAccepted: Bool) -> [AlertResult] {
        (shown.map { [AlertResult(alert: $0, outcome: isAccepted && fits ? .accepted : .rejected)] } ?? [])
            + merged.map { AlertResult(alert: $0, outcome: .merged) } + expired.map { AlertResult(alert: $0, outcome: .expired) }
    }

    /// All that may be shown to any device from now on.
    static func candidates(_ alerts: [SubjectAlert], now: Timestamp) -> [SubjectAlert] {
        alerts.reversed().reduce(into: []) { candidates, alert in
            guard alert.isFresh(now: now), candidates.last.map({ alert.priority < $0.priority }) ?? true else { return }
            candidates.append(alert)
        }
    }
}
