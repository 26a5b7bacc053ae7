import PushContract

/// All instances of one activity key, and what a call about them means. Pure: the store reads it, asks it, and writes the verdict.
package struct ActivityHistory: Sendable, Hashable {
    /// In rising order.
    package private(set) var instances: [ActivityInstance]

    package init(_ instances: [ActivityInstance]) {
        self.instances = instances.sorted { $0.number < $1.number }
    }

    package var latest: ActivityInstance? { instances.last }
    package var active: ActivityInstance? { instances.last { $0.status == .active } }
    package var pending: ActivityInstance? { instances.last { $0.status == .pending } }

    package func instance(_ number: Int) -> ActivityInstance? { instances.first { $0.number == number } }
}
