package import AlertRules
package import PushContract

/// Who is affected by an alert that fires: in its worst window, and in the newest one that was read.
package struct AlertImpact: Sendable, Hashable, Codable {
    /// The impact in one window.
    package struct Snapshot: Sendable, Hashable, Codable {
        package var window: WindowCounts
        package var at: Timestamp
        package var contributors: [Contributor]
        package var affected: AffectedDevices?
        /// What waited to be sent at that time.
        package var backlog: BacklogNumbers?

        package init(
            window: WindowCounts,
            at moment: Timestamp,
            contributors: [Contributor] = [],
            affected: AffectedDevices? = nil,
            backlog: BacklogNumbers? = nil
        ) {
            self.window = window
            at = moment
            self.contributors = contributors
            self.affected = affected
            self.backlog = backlog
        }
    }

    /// The window with the largest excess, when that is not the one it fired with.
    package var worst: Snapshot?
    package var now: Snapshot
}
