import CoreMetrics
package import PushContract
import Synchronization

/// A gauge of how long ago something was, in seconds. The age is computed when somebody asks: it goes on growing while whatever would
/// record it next hangs. Safe to share.
package struct AgeGauge: Sendable {
    private let series: AgeSeries?

    package init(label: String, dimensions: [(String, String)] = []) {
        series = (MetricsSystem.factory as? MetricsRegistry)?.age(label, dimensions)
    }

    /// Nil: there is nothing whose age could be stated; the gauge says 0.
    package func record(since moment: Timestamp?) { series?.record(since: moment) }
}

/// The moment of an `AgeGauge`.
final class AgeSeries: Sendable {
    private let moment = Mutex<Timestamp?>(nil)

    func record(since moment: Timestamp?) { self.moment.withLock { $0 = moment } }

    func value(now: Timestamp) -> Double { moment.withLock { $0 }.map { max(0, (now - $0).inSeconds) } ?? 0 }
}
