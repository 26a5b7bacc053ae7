package import AlertRules
import Foundation
import PushContract

/// Which alerts go to which receivers. Everything that is named must match.
package struct AlertRoute: Sendable, Hashable {
    /// Empty: every severity.
    package var severities: Set<Severity>
    /// Names of rules, `*` for any text. Empty: every rule.
    package var rules: [String]
    /// Labels the alert must have, `*` for any text. A group's dimensions are labels too.
    package var labels: [String: String]
    package var receivers: [String]

    package init(severities: Set<Severity> = [], rules: [String] = [], labels: [String: String] = [:], receivers: [String]) {
        self.severities = severities
        self.rules = rules
        self.labels = labels
        self.receivers = receivers
    }

    package func matches(severity: Severity, rule: String, labels present: [String: String]) -> Bool {
        (severities.isEmpty || severities.contains(severity))
            && (rules.isEmpty || rules.contains { Wildcard.matches(rule, $0) })
            && labels.allSatisfy { Wildcard.matches(present[$0.key] ?? "", $0.value) }
    }
}

/// All receivers and routes. Without routes every alert goes to every receiver.
package struct ReceiverSet: Sendable, Hashable {
    package var receivers: [ReceiverConfiguration]
    package var routes: [AlertRoute]
    /// The receivers of alerts that match no route; empty means all.
    package var fallback: [String]
    /// When pages that reach nobody, or that nobody acknowledges, go to further receivers; nil: never.
    package var escalation: EscalationPolicy?

    package init(
        receivers: [ReceiverConfiguration],
        routes: [AlertRoute] = [],
        fallback: [String] = [],
        escalation: EscalationPolicy? = nil
    ) {
        self.receivers = receivers
        self.routes = routes
        self.fallback = fallback
        self.escalation = escalation
    }

    /// The receivers that notify people.
    package var people: Set<String> { Set(receivers.filter { $0.receiver.reachesPeople }.map(\.name)) }

    /// Every matching route adds its receivers; an alert that matches no route goes to the fallback, or to all receivers rather than none.
    package func names(for severity: Severity, rule: String = "", labels: [String: String] = [:]) -> [String] {
        let all = receivers.map(\.name)
        let fitting = routes.filter { $0.matches(severity: severity, rule: rule, labels: labels) }.flatMap(\.receivers)
        if !fitting.isEmpty { return all.filter(fitting.contains) }
        return fallback.isEmpty ? all : all.filter(fallback.contains)
    }

    /// Attempts a minute of receivers with a limit.
    var limits: [String: Int] {
        receivers.reduce(into: [:]) { limits, receiver in receiver.policy.perMinute.map { limits[receiver.name] = $0 } }
    }

    /// The receivers in quiet hours, which get pages only.
    func quiet(at now: Timestamp) -> [String] {
        receivers.filter { $0.policy.quiet?.contains(now) == true }.map(\.name)
    }

    func names(for alert: Alert) -> [String] {
        names(for: alert.severity, rule: alert.rule, labels: alert.labels)
    }
}

/// Texts with `*` for any run of characters, compared by their bytes.
enum Wildcard {
    static func matches(_ text: String, _ pattern: String) -> Bool {
        let pieces = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        guard pieces.count > 1, let first = pieces.first, let last = pieces.last else { return ExactText(text) == ExactText(pattern) }
        let text = text.utf8
        guard text.count >= first.count + last.count, text.starts(with: first), text.suffix(last.count).elementsEqual(last) else {
            return false
        }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let found = rest.firstRange(of: piece) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}
