package import AlertRules
package import Foundation
package import PushContract

/// One alert, from firing to resolved, as it is stored.
package struct Alert: Sendable, Hashable {
    package enum State: String, Sendable, Hashable, Codable {
        case firing, resolved
    }

    package var id: UUID
    package var rule: String
    package var ruleVersion: String
    package var group: GroupKey
    /// alertname, the rule's labels, severity and the group's values.
    package var labels: [String: String]
    package var severity: Severity
    package var state: State
    /// The first bad minute.
    package var startsAt: Timestamp
    /// The end of the minute that decided.
    package var firedAt: Timestamp
    /// The first minute of the good run.
    package var endsAt: Timestamp?
    package var resolvedAt: Timestamp?
    package var resolvedReason: String?
    package var detectedLateBySeconds: Int64
    package var evidence: Evidence
    package var contributors: [Contributor]
    package var backlog: BacklogNumbers?
    /// Runs read-only in psql and returns the numbers of `evidence.observed` at firing.
    package var reproduceSQL: String
    package var annotations: [String: String]
    package var acknowledgedAt: Timestamp?
    package var acknowledgedBy: String?
    package var silencedBy: UUID?
    /// The alert that suppresses this one: its receivers are not notified of this one meanwhile.
    package var suppressedBy: SuppressingAlert?
    package var revised: Bool
    package var noDataSince: Timestamp?
    package var affected: AffectedDevices?
    /// Who is affected while it goes on; nil until `ImpactPass` has read it, some minutes after it fired.
    package var impact: AlertImpact?

    /// Raised by Pushwatch about itself: its evidence has a time, but neither counts nor a threshold.
    package var isBuiltIn: Bool { BuiltInAlert(rawValue: rule) != nil }

    /// The labels that distinguish it from other alerts of its rule: the group, or those that its built-in alert adds.
    package var ownLabels: [String: String] {
        BuiltInAlert(rawValue: rule)?.ownLabels(labels)
            ?? Dictionary(uniqueKeysWithValues: group.values.map { ($0.key.rawValue, $0.value) })
    }

    /// Recorded and shown, but not notified; with a cause, only to receivers that were notified of that.
    var isMuted: Bool { silencedBy != nil || suppressedBy != nil }
}

/// A value of a dimension that has more failures than its share before would explain.
package struct Contributor: Sendable, Hashable, Codable {
    package var dimension: String
    package var value: String
    package var attempts: Int64
    package var bad: Int64
    /// Failures beyond what the time before lets expect.
    package var excess: Int64
    /// Part of the group's whole excess, 0–1.
    package var excessShare: Double
    /// Its share of the failures divided by its share of the traffic: 1 when it fails as all others do. Absent for a provider's code.
    package var lift: Double?
    /// What the lift is at least, with a confidence of 99 %.
    package var liftAtLeast: Double?
    /// Extrapolated from a part of the attempts; absent when all of them were counted.
    package var isEstimated: Bool?
}

extension Contributor {
    /// Dimensions of failures that successes do not have.
    static let why = ["reasonCode", "providerErrorCode"]

    /// `4.93 (at least 4.41) × its share of the traffic`
    package var liftText: String? {
        guard let lift else { return nil }
        let least = liftAtLeast.map { " (at least \(Fraction.rounded($0)))" } ?? ""
        return "\(Fraction.rounded(lift))\(least) × its share of the traffic"
    }

    /// `appVersion=3.2.0: 90 of 100 failed, 80 % of the excess, 4.93 × its share of the traffic`
    package var text: String {
        "\(dimension)=\(value): \(bad) of \(attempts) failed, \(Fraction.percent(excessShare)) of the excess"
            + (liftText.map { ", \($0)" } ?? "") + (isEstimated == true ? " (estimated)" : "")
    }
}

extension Alert {
    /// Why, as the first line of messages says it: reason, provider's code, and who is affected by how much more than others.
    package var causeText: String? { AlertCause(contributors).text }
}

/// Devices that failed in the window and had no success since it began.
package struct AffectedDevices: Sendable, Hashable, Codable {
    package var withoutSuccess: Int64
    /// False: at least that many; only a part of the attempts was read.
    package var isComplete: Bool

    package init(withoutSuccess: Int64, isComplete: Bool) {
        self.withoutSuccess = withoutSuccess
        self.isComplete = isComplete
    }

    package var text: String { (isComplete ? "" : "at least ") + "\(withoutSuccess) without a success" }
}

/// How much waits to be sent, when the sending side can determine it cheaply.
package struct BacklogNumbers: Sendable, Hashable, Codable {
    package var waiting: Int64
    package var oldestSeconds: Int64?
    /// Seconds until the backlog is drained; nil while it does not shrink.
    package var drainSeconds: Int64?
    /// Nil when it does not grow.
    package var isGrowing: Bool?

    package init(waiting: Int64, oldestSeconds: Int64? = nil, drainSeconds: Int64? = nil, isGrowing: Bool = false) {
        self.waiting = waiting
        self.oldestSeconds = oldestSeconds
        self.drainSeconds = drainSeconds
        self.isGrowing = isGrowing ? true : nil
    }

    /// `12 waiting, drained in about 10 min`, `12 waiting, growing`, or only how much waits. `span` formats seconds.
    package func text(count: (Int64) -> String = { "\($0)" }, span: (Int64) -> String) -> String {
        guard waiting > 0 else { return "0 waiting" }
        let trend = drainSeconds.map { ", drained in about \(span($0))" } ?? (isGrowing == true ? ", growing" : "")
        return "\(count(waiting)) waiting\(trend)"
    }
}
