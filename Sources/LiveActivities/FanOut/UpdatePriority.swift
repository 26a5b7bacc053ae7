import Providers
import PushContract

/// Which priority an update has: a function of the event and the device's bucket, and of nothing else. Starts and ends are always high.
enum UpdatePriority {
    static func choose(_ event: KeyEventClass, budget: inout BoundaryBudget, now: Timestamp) -> PushPriority {
        switch event {
        case .alerting, .prompt: .high
        case .budgeted: budget.take(now: now) ? .high : .normal
        case .quiet: .normal
        }
    }
}
