package import AlertRules

/// When and how often a receiver is told.
package struct ReceiverPolicy: Sendable, Hashable {
    /// Tries a minute, at most. Pages go first.
    package var perMinute: Int?
    /// When only pages are told; what waits is told afterwards.
    package var quiet: QuietHours?
    /// How often it is told again that an alert still fires that nobody acknowledged.
    package var repeatAfter: RuleDuration?
    /// What is no page is told together; nil tells each by itself, at once.
    package var grouping: NotificationGrouping?

    package init(perMinute: Int? = nil, quiet: QuietHours? = nil, repeatAfter: RuleDuration? = nil, grouping: NotificationGrouping? = nil) {
        self.perMinute = perMinute
        self.quiet = quiet
        self.repeatAfter = repeatAfter
        self.grouping = grouping
    }
}
