/// Whom alerts of a rule test notify, and when: receivers, routes, suppression, silences and escalation over the folded alerts of a test.
///
/// Implemented where receivers are known: in `Alerting`.
package protocol TestedNotifications {
    /// The names of the receivers.
    var receivers: [String] { get }
    /// For each of `alerts` who is notified that it fires, by minutes from the start of the test.
    func notified(_ test: RuleTest, _ alerts: [TestedAlert]) -> [[Int: [String]]]
}

/// An alert of a test: of its rule, or of one that suppresses it. Times are minutes from the start of the test, as in `ObservedAlert`.
package struct TestedAlert: Sendable, Hashable {
    package var rule: String
    package var group: GroupKey
    package var severity: Severity
    /// With those of the group.
    package var labels: [String: String]
    package var starts: Int
    package var fires: Int
    package var resolves: Int?
    /// When its condition was last met.
    package var lastSet: Int
}
