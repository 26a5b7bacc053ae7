import CoreMetrics
import Synchronization

/// How many values fell under which bound, and their sum. As a timer it takes nanoseconds and keeps seconds.
final class HistogramSeries: RecorderHandler, TimerHandler {
    struct Snapshot: Sendable {
        /// One for each bound, and one for everything above; not cumulative.
        var counts: [UInt64]
        var sum: Double
    }

    let bounds: [Double]
    private let state: Mutex<Snapshot>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(Snapshot(counts: Array(repeating: 0, count: bounds.count + 1), sum: 0))
    }

    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Double) {
        guard !value.isNaN else { return }
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock {
            $0.counts[index] += 1
            $0.sum += value
        }
    }

    var snapshot: Snapshot { state.withLock { $0 } }
}
