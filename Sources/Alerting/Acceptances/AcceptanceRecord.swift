package import AlertRules
package import Foundation
package import PushContract

/// An operator's decision that a level of failures is normal from now on, for one group of a baseline rule.
package struct AcceptanceRecord: Sendable, Hashable {
    /// How long after an alert's end it may still be accepted.
    package static let grace = Duration.seconds(86_400)

    package var id: UUID
    /// The alert whose level was accepted.
    package var alertId: UUID
    package var rule: String
    package var group: GroupKey
    package var author: String
    package var reason: String
    package var acceptedAt: Timestamp
    /// The first minute that is decided by it; nil until the evaluator has applied it, within a minute.
    package var effectiveFrom: Timestamp?
    package var undoneAt: Timestamp?
    package var undoneBy: String?

    /// `by maria: the new app release deletes old tokens`, for messages.
    package var summary: String { "by \(author): \(reason)" }

    /// `TokenNotRegisteredSpike provider=fcm`, for the audit log.
    package var subject: String { "\(rule) \(group)" }
}

/// The accepted shares, as they are stored.
struct AcceptedShares: Codable {
    /// The rule's reason codes: what counted as failed.
    var reasons: [String]
    var shares: [FrozenShare]

    /// Whether the rule still counts the same reasons and has the same strata.
    func matches(_ rule: AlertRule) -> Bool {
        reasons == rule.condition.reasons && shares.allSatisfy { Set($0.stratum.values.keys) == Set(rule.dimensions) }
    }
}

extension Alert {
    /// Whether its level can be accepted: that of an alert of a baseline that fires, or ended within a day.
    package func isAcceptable(at now: Timestamp) -> Bool {
        comparesWithPast && (resolvedAt.map { now - $0 <= AcceptanceRecord.grace } ?? true)
    }

    /// An alert of a baseline.
    var comparesWithPast: Bool { evidence.definition.hasPrefix("baseline/") }
}
