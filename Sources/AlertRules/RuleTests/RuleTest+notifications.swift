extension RuleTest {
    /// A silence, in minutes from the start of the test.
    package struct TestSilence: Sendable, Hashable {
        package var from: Int
        /// Exclusive.
        package var to: Int
        /// Labels that an alert must have, `*` for any text.
        package var labels: [String: String]
    }

    /// What people and receivers do while a test lasts.
    package struct Events: Sendable, Hashable {
        package var silences: [TestSilence] = []
        /// Receivers that accept nothing.
        package var unreachable: [String] = []
        /// When the alerts of the rule are acknowledged.
        package var acknowledged: Int?
    }

    /// The differences between who was and who should have been notified of each alert.
    static func differences(
        _ test: RuleTest,
        _ alerts: [TestedAlert],
        _ notifications: (any TestedNotifications)?
    ) -> [String] {
        let expected = test.expected.filter { $0.notified != nil }
        guard !expected.isEmpty else { return [] }
        guard let notifications else { return ["`notified` needs a receivers.yml next to rules/ and tests/"] }
        let named = expected.flatMap { $0.notified?.values.flatMap(\.self) ?? [] } + test.events.unreachable
        if let unknown = named.first(where: { !notifications.receivers.contains($0) }) {
            return ["receivers.yml has no receiver '\(unknown)'; it has \(notifications.receivers.joined(separator: ", "))"]
        }
        let notified = notifications.notified(test, alerts)
        return expected.compactMap { expected in
            guard
                let index = alerts.firstIndex(where: {
                    $0.rule == test.rule.name && $0.group == expected.group && $0.fires == expected.fires
                })
            else { return nil }
            let (want, got) = (text(expected.notified ?? [:]), text(notified[index]))
            return want == got
                ? nil : "\(expected.group), fired at \(RuleDuration(minutes: expected.fires)): expected to notify \(want), got \(got)"
        }
    }

    private static func text(_ notified: [Int: [String]]) -> String {
        let times = notified.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        guard !times.isEmpty else { return "nobody" }
        return times.map { "\($0.value.sorted().joined(separator: ", ")) at \(RuleDuration(minutes: $0.key))" }.joined(separator: "; ")
    }
}
