package import AlertRules

/// When and how often a receiver is notified.
package struct ReceiverPolicy: Sendable, Hashable {
    /// Attempts a minute, at most. Pages go first.
    package var perMinute: Int?
    /// When only pages are sent; other notifications follow afterwards.
    package var quiet: QuietHours?
    /// How often the notification of an unacknowledged firing alert is repeated.
    package var repeatAfter: RuleDuration?
    /// How notifications other than pages are grouped; nil sends each separately, at once.
    package var grouping: NotificationGrouping?

    package init(perMinute: Int? = nil, quiet: QuietHours? = nil, repeatAfter: RuleDuration? = nil, grouping: NotificationGrouping? = nil) {
        self.perMinute = perMinute
        self.quiet = quiet
        self.repeatAfter = repeatAfter
        self.grouping = grouping
    }
}
