package import PushContract

/// All generations of one activity key, and what a call about them means. Pure: the store reads it, asks it, and writes the verdict.
package struct ActivityHistory: Sendable, Hashable {
    /// In rising order.
    package private(set) var generations: [ActivityGeneration]

    package init(_ generations: [ActivityGeneration]) {
        self.generations = generations.sorted { $0.number < $1.number }
    }

    package var latest: ActivityGeneration? { generations.last }
    package var active: ActivityGeneration? { generations.last { $0.status == .active } }
    package var pending: ActivityGeneration? { generations.last { $0.status == .pending } }

    package func generation(_ number: Int) -> ActivityGeneration? { generations.first { $0.number == number } }
}
