/// What an event in a match asks of the push that reports it, by its priority in reference §5.4 (1 is the most important).
package enum KeyEventClass: Int, Sendable, Hashable, Comparable {
    /// A plain score change, or something that can wait: APNs priority 5.
    case quiet
    /// Boundaries: priority 10 while the device's bucket allows.
    case budgeted
    /// Priority 10, without an alert.
    case prompt
    /// Priority 10, with an alert.
    case alerting

    package init(priority: Int?) {
        self =
            switch priority {
            case .some(...8): .alerting
            case .some(9...11): .prompt
            case .some(12...13): .budgeted
            default: .quiet
            }
    }

    package static func < (left: KeyEventClass, right: KeyEventClass) -> Bool { left.rawValue < right.rawValue }
}
