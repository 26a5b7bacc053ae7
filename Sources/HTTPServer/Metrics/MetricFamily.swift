/// All series of one name.
struct MetricFamily: Sendable {
    enum Kind: String, Sendable { case counter, gauge, histogram }

    enum Series: Sendable {
        case counter(CounterSeries)
        case gauge(GaugeSeries)
        case age(AgeSeries)
        case histogram(HistogramSeries)
        /// Read when the metrics are; nil leaves the sample out.
        case observed(@Sendable () -> Double?)
    }

    let name: String
    let kind: Kind
    var help: String
    var series: [LabelSet: Series] = [:]

    /// A label that takes any value must not fill the memory: series beyond this many are counted nowhere.
    static let maximumSeries = 2_000
}
