import Foundation

/// What `bench isolation` measured.
struct IsolationReport: Encodable, Sendable {
    /// From the acceptance of a send to its durable attempt.
    struct Latency: Encodable, Sendable {
        var sends: Int
        var p50Milliseconds: Double
        var p99Milliseconds: Double
    }

    struct Scenario: Encodable, Sendable {
        var name: String
        var normal: Latency
        var critical: Latency
        /// Against the mean of the times alone, before and after.
        var normalRatio: Double?
        var criticalP99Ratio: Double?
    }

    struct Outage: Encodable, Sendable {
        var waiting: Int
        var instances: Int
        /// From the first failure to the open circuit.
        var openedAfterSeconds: Double
        var requestsBeforeOpen: Int
        var requestsPerMinute: Double
        /// Since the provider recovered: until a share of all, and of the critical ones, had their durable attempts.
        var most95Seconds: Double
        var allSeconds: Double
        var criticalSeconds: Double
        /// The same number posted to a healthy provider, until all had their durable attempts.
        var healthySeconds: Double
    }

    var scenarios: [Scenario] = []
    var outage: Outage?

    var text: String {
        func format(_ value: Double?, _ digits: Int = 1) -> String { value.map { String(format: "%.\(digits)f", $0) } ?? "" }
        var rows = [["scenario", "p50 ms", "p99 ms", "÷ alone", "critical p50 ms", "p99 ms", "p99 ÷ alone"]]
        for scenario in scenarios {
            rows.append([
                scenario.name, format(scenario.normal.p50Milliseconds), format(scenario.normal.p99Milliseconds),
                format(scenario.normalRatio, 2), format(scenario.critical.p50Milliseconds), format(scenario.critical.p99Milliseconds),
                format(scenario.criticalP99Ratio, 2),
            ])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + space : space + cell.0
            }.joined(separator: "  ")
        }
        if let outage {
            lines += [
                "",
                "Outage with \(outage.waiting) deliveries and \(outage.instances) instances: the circuit opened \(format(outage.openedAfterSeconds)) s after the first failure",
                "(\(outage.requestsBeforeOpen) requests); then \(format(outage.requestsPerMinute, 0)) requests a minute.",
                "After the recovery: critical ones after \(format(outage.criticalSeconds)) s, 95 % after \(format(outage.most95Seconds)) s, all after \(format(outage.allSeconds)) s;",
                "as many to a healthy provider: \(format(outage.healthySeconds)) s.",
            ]
        }
        return lines.joined(separator: "\n")
    }
}
