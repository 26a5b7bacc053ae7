package import AlertRules

/// Who is notified in a rule test, by a set of receivers: as the evaluator and the notifier do it, with deliveries that take no time.
package struct ReceiverTest: TestedNotifications {
    private let set: ReceiverSet

    package init(_ set: ReceiverSet) { self.set = set }

    package var receivers: [String] { self.set.receivers.map(\.name) }

    package func notified(_ test: RuleTest, _ alerts: [TestedAlert]) -> [[Int: [String]]] {
        var run = ReceiverTestRun(set: set, test: test, alerts: alerts)
        for time in 0...max(0, test.minutes) { run.step(at: time) }
        return run.states.map { state in
            Dictionary(grouping: state.notified, by: \.value).mapValues { $0.map(\.key) }
        }
    }
}
