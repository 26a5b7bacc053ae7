import Synchronization

/// How many tries are under way in this process.
final class InFlight: Sendable {
    private let number = Mutex(0)

    var count: Int { number.withLock { $0 } }

    func enter() { number.withLock { $0 += 1 } }

    /// How many remain.
    func leave() -> Int {
        number.withLock { number in
            number -= 1
            return number
        }
    }
}
