import AlertRules
package import Foundation

/// The alert that explains another one: whoever was told of it is not told of the other one.
package struct SuppressingAlert: Sendable, Hashable, Codable {
    package var alertId: UUID
    package var rule: String
    /// `provider=apns`, or `all`.
    package var group: String

    package init(alertId: UUID, rule: String, group: String) {
        self.alertId = alertId
        self.rule = rule
        self.group = group
    }

    /// `PushAuthFailing · provider=apns`
    package var name: String { group == GroupKey().description ? rule : "\(rule) · \(group)" }
}
