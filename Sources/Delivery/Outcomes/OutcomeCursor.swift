/// A place in the stream of outcomes: behind the outcome that has it. As text `<number>-<index>`.
package struct OutcomeCursor: Sendable, Hashable, Comparable {
    /// Of the row of `pushOutcomes`, from 1.
    package var number: Int64
    /// Of the outcome in its row, from 1.
    package var index: Int64

    /// Before the first one.
    package static let start = OutcomeCursor(number: 0, index: 0)

    package init(number: Int64, index: Int64) {
        self.number = number
        self.index = index
    }

    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int64(parts[0]), let index = Int64(parts[1]), number >= 0, index >= 0 else { return nil }
        self.init(number: number, index: index)
    }

    package var text: String { "\(number)-\(index)" }

    package static func < (first: OutcomeCursor, second: OutcomeCursor) -> Bool {
        (first.number, first.index) < (second.number, second.index)
    }
}
