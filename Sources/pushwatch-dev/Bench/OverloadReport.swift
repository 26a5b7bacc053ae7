import Foundation

/// What the server's memory and its well-behaved senders went through.
struct OverloadReport: Encodable, Sendable {
    struct Scenario: Encodable, Sendable {
        var name: String
        var seconds: Double
        /// The server's, in MiB: the peak, and the value afterwards.
        var peakMemoryMiB: Double?
        var memoryAfterMiB: Double?
        /// Of well-behaved senders meanwhile.
        var requestsPerSecond: Double?
        var p50Milliseconds: Double?
        var p99Milliseconds: Double?
        var refused = 0
        var note = ""
    }

    var scenarios: [Scenario] = []

    var table: String {
        func format(_ value: Double?, _ digits: Int) -> String { value.map { String(format: "%.\(digits)f", $0) } ?? "–" }
        let head = ["scenario", "s", "peak MiB", "after MiB", "req/s", "p50 ms", "p99 ms", "refused", ""]
        let rows = scenarios.map {
            [
                $0.name, format($0.seconds, 0), format($0.peakMemoryMiB, 0), format($0.memoryAfterMiB, 0), format($0.requestsPerSecond, 0),
                format($0.p50Milliseconds, 1), format($0.p99Milliseconds, 1), "\($0.refused)", $0.note,
            ]
        }
        let lines = [head] + rows
        let widths = head.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            line.enumerated().map {
                $0.offset == 8 ? $0.element : $0.element + String(repeating: " ", count: widths[$0.offset] - $0.element.count)
            }
            .joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
