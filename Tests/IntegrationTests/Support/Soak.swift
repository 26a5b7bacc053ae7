import Foundation

/// How long a fault test goes on: a few faults in `make test`, for so many minutes under `scripts/soak.sh`.
///
/// The same test is both, so that what the soak reports is what the short run checks.
struct Soak {
    /// Of one test; nil in an ordinary run.
    static let minutes = ProcessInfo.processInfo.environment["PUSHWATCH_SOAK_MINUTES"].flatMap(Double.init)

    private let fewest: Int
    private let end: ContinuousClock.Instant?
    private(set) var rounds = 0

    /// - Parameter fewest: rounds of an ordinary run, and the least of a long one.
    init(rounds fewest: Int) {
        self.fewest = fewest
        end = Soak.minutes.map { ContinuousClock.now + .seconds($0 * 60) }
    }

    /// Whether there is another round.
    mutating func next() -> Bool {
        guard rounds < fewest || end.map({ ContinuousClock.now < $0 }) ?? false else { return false }
        rounds += 1
        return true
    }
}
