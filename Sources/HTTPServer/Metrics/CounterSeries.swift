import CoreMetrics
import Synchronization

/// A count that only grows. Whole increments are one atomic addition; fractions take a lock.
final class CounterSeries: CounterHandler, FloatingPointCounterHandler {
    private let whole = Atomic<Int64>(0)
    private let fraction = Mutex(0.0)

    func increment(by amount: Int64) { whole.wrappingAdd(amount, ordering: .relaxed) }

    func increment(by amount: Double) {
        guard amount.isFinite, amount > 0 else { return }
        fraction.withLock { $0 += amount }
    }

    func reset() {
        whole.store(0, ordering: .relaxed)
        fraction.withLock { $0 = 0 }
    }

    var value: Double { Double(whole.load(ordering: .relaxed)) + fraction.withLock { $0 } }
}
