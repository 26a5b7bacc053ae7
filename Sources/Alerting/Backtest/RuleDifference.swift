package import AlertRules

/// How the alerts of a rule's two versions differ over the same history.
package struct RuleDifference: Sendable, Hashable {
    /// An alert of both versions with other times or another severity, or other notifications.
    package struct Moved: Sendable, Hashable {
        package var old: BacktestAlert
        package var new: BacktestAlert
    }

    package var name: String
    /// Nil when the rule is in one of the sets only.
    package var old: [BacktestAlert]?
    package var new: [BacktestAlert]?
    package var gained: [BacktestAlert] = []
    package var lost: [BacktestAlert] = []
    package var moved: [Moved] = []
    /// What else has changed about receivers.
    package var settings: [RuleSettingChange] = []

    /// Alerts of one group that overlap in time are the same alert; a rule that split one in two gained the second.
    package init(name: String, old: [BacktestAlert]?, new: [BacktestAlert]?, through last: Minute) {
        self.name = name
        self.old = old
        self.new = new
        var rest = new ?? []
        for alert in old ?? [] {
            guard let index = rest.firstIndex(where: { Self.overlap(alert, $0, last) }) else {
                lost.append(alert)
                continue
            }
            let match = rest.remove(at: index)
            if !Self.isSame(alert, match) { moved.append(Moved(old: alert, new: match)) }
        }
        gained = rest
    }

    package var isEmpty: Bool { gained.isEmpty && lost.isEmpty && moved.isEmpty }

    private static func overlap(_ a: BacktestAlert, _ b: BacktestAlert, _ last: Minute) -> Bool {
        a.group == b.group && a.fired.startsAt < (b.resolvedAt ?? last + 1) && b.fired.startsAt < (a.resolvedAt ?? last + 1)
    }

    private static func isSame(_ a: BacktestAlert, _ b: BacktestAlert) -> Bool {
        a.firedAt == b.firedAt && a.resolvedAt == b.resolvedAt && a.severity == b.severity && a.suppression == b.suppression
    }
}
