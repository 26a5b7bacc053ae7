package import CoreMetrics
import Synchronization

/// The metrics of the process: a swift-metrics backend that prints the Prometheus text format.
///
/// Counters get `_total`, timers become histograms in `_seconds`, aggregating recorders histograms, other recorders and meters
/// gauges. Making a metric anew takes one lock and one look-up; counting is an atomic addition. Safe to share.
package final class MetricsRegistry: MetricsFactory {
    private enum Use { case counter, gauge, sizes, seconds }

    /// A series as its callers name it: who counts each of many things makes the same one again and again.
    private struct Handle: Hashable {
        var use: Use
        var label: String
        var dimensions: [String]
    }

    private struct State {
        var families: [String: MetricFamily] = [:]
        var known: [Handle: MetricFamily.Series] = [:]
        var descriptions: [String: MetricDescription] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Gives a metric its help text and, for histograms, its buckets. Call it before the metric is first used.
    /// - Parameter label: as passed to `Counter(label:)` and the like, without suffix.
    package func describe(_ label: String, _ help: String, buckets: [Double]? = nil) {
        state.withLock { $0.descriptions[MetricName.sanitized(label)] = MetricDescription(help: help, buckets: buckets) }
    }

    /// A gauge, or a counter, that is read only when somebody asks. `read` must be quick and must not make metrics.
    func observe(
        _ label: String,
        _ help: String,
        dimensions: [(String, String)] = [],
        isCounter: Bool = false,
        read: @escaping @Sendable () -> Double?
    ) {
        describe(label, help)
        let name = MetricName.sanitized(label)
        let use = isCounter ? Use.counter : .gauge
        _ = series(label, use, isCounter ? MetricName.adding("_total", to: name) : name, isCounter ? .counter : .gauge, dimensions) { _ in
            .observed(read)
        }
    }

    /// All metrics in the text format 0.0.4, in a stable order.
    package func exposition() -> String {
        let families = state.withLock { Array($0.families.values) }
        var text = ""
        for family in families.sorted(by: { $0.name < $1.name }) { family.write(to: &text) }
        return text
    }

    /// The `Content-Type` of `exposition()`.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { counter(label, dimensions) }

    package func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
        counter(label, dimensions)
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { gauge(label, dimensions) }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return gauge(label, dimensions) }
        return histogram(label, .sizes, MetricName.sanitized(label), dimensions, MetricDescription.sizeBuckets)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let name = { MetricName.adding("_seconds", to: MetricName.sanitized(label)) }
        return histogram(label, .seconds, name(), dimensions, MetricDescription.secondsBuckets)
    }

    // A series lives as long as the process: another handle may share it, and a counter that vanishes looks like a restart.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
}

extension MetricsRegistry {
    private func counter(_ label: String, _ dimensions: [(String, String)]) -> CounterSeries {
        let name = { MetricName.adding("_total", to: MetricName.sanitized(label)) }
        let series = series(label, .counter, name(), .counter, dimensions) { _ in .counter(CounterSeries()) }
        guard case .counter(let counter) = series else { return CounterSeries() }
        return counter
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> GaugeSeries {
        let series = series(label, .gauge, MetricName.sanitized(label), .gauge, dimensions) { _ in .gauge(GaugeSeries()) }
        guard case .gauge(let gauge) = series else { return GaugeSeries() }
        return gauge
    }

    func age(_ label: String, _ dimensions: [(String, String)]) -> AgeSeries {
        let series = series(label, .gauge, MetricName.sanitized(label), .gauge, dimensions) { _ in .age(AgeSeries()) }
        guard case .age(let age) = series else { return AgeSeries() }
        return age
    }

    private func histogram(
        _ label: String,
        _ use: Use,
        _ name: @autoclosure () -> String,
        _ dimensions: [(String, String)],
        _ usual: [Double]
    ) -> HistogramSeries {
        let series = series(label, use, name(), .histogram, dimensions) { .histogram(HistogramSeries(bounds: $0?.buckets ?? usual)) }
        guard case .histogram(let histogram) = series else { return HistogramSeries(bounds: usual) }
        return histogram
    }

    /// The series with these labels, made if needed; one that is never exported when the family is full or of another kind
    /// (a metric must never stop the work that it measures).
    private func series(
        _ label: String,
        _ use: Use,
        _ prometheusName: @autoclosure () -> String,
        _ kind: MetricFamily.Kind,
        _ dimensions: [(String, String)],
        make: (MetricDescription?) -> MetricFamily.Series
    ) -> MetricFamily.Series {
        let handle = Handle(use: use, label: label, dimensions: dimensions.flatMap { [$0.0, $0.1] })
        if let known = state.withLock({ $0.known[handle] }) { return known }
        let name = prometheusName()
        let labels = LabelSet(dimensions)
        return state.withLock { state in
            let description = state.descriptions[MetricName.sanitized(label)] ?? state.descriptions[name]
            let help = description?.help ?? name.split(separator: "_").joined(separator: " ").capitalizedFirst + "."
            var family = state.families[name] ?? MetricFamily(name: name, kind: kind, help: help)
            if let existing = family.series[labels] { return existing }
            let series = make(description)
            guard family.kind == kind, family.series.count < MetricFamily.maximumSeries else { return series }
            family.help = help
            family.series[labels] = series
            state.families[name] = family
            state.known[handle] = series
            return series
        }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
