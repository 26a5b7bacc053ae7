import PushContract

extension MetricFamily {
    /// The family in the Prometheus text format 0.0.4: HELP and TYPE once, then its samples sorted by labels.
    func write(to text: inout String) {
        guard !series.isEmpty else { return }
        let help = help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for (labels, series) in series.sorted(by: { $0.key < $1.key }) {
            switch series {
            case .counter(let counter): write(counter.value, labels, to: &text)
            case .gauge(let gauge): write(gauge.value, labels, to: &text)
            case .age(let age): write(age.value(now: .now()), labels, to: &text)
            case .observed(let read): if let value = read() { write(value, labels, to: &text) }
            case .histogram(let histogram): write(histogram, labels, to: &text)
            }
        }
    }

    private func write(_ value: Double, _ labels: LabelSet, to text: inout String) {
        text += "\(name)\(labels.braced()) \(Self.format(value))\n"
    }

    private func write(_ histogram: HistogramSeries, _ labels: LabelSet, to text: inout String) {
        let snapshot = histogram.snapshot
        var total: UInt64 = 0
        for (index, count) in snapshot.counts.enumerated() {
            total += count
            let bound = index < histogram.bounds.count ? Self.format(histogram.bounds[index]) : "+Inf"
            text += "\(name)_bucket\(labels.braced(adding: "le=\"\(bound)\"")) \(total)\n"
        }
        text += "\(name)_sum\(labels.braced()) \(Self.format(snapshot.sum))\n\(name)_count\(labels.braced()) \(total)\n"
    }

    static func format(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if value == value.rounded(), abs(value) < 1e15 { return String(Int64(value)) }
        return "\(value)"
    }
}
