import Foundation

/// What a run measured.
struct BenchReport: Encodable, Sendable {
    struct Measurement: Encodable, Sendable {
        var name: String
        var connections: Int
        var rowsPerRequest: Int
        var requestsPerSecond: Double
        var rowsPerSecond: Double
        /// Rows to the mean of COPY before and after, or requests to those of the no-op route.
        var ratio: Double?
        var ratioTo: String?
        /// The ratio to the same measurement's before anything was stored.
        var ratioToEmpty: Double?
        var p50Milliseconds: Double?
        var p99Milliseconds: Double?
        var serverCPUMicrosecondsPerRow: Double?
        var postgresCPUMicrosecondsPerRow: Double?
        var serverCPUSeconds: Double?
        var postgresCPUSeconds: Double?
        var walBytesPerRow: Double?
        var serverPeakMemoryMiB: Double?
        var refused = 0
        var failure: String?
    }

    var preloadedRows: Int
    /// From the start of a server with full filters: until it answered, and until it had loaded them.
    var readyAfterSeconds: Double?
    var filtersAfterSeconds: Double?
    /// What was measured before anything was stored, when rows were stored for the others.
    var empty: [Measurement] = []
    var measurements: [Measurement] = []

    /// How each measurement fares with what is stored. Ratios are compared, not rates: the machine may have become another meanwhile.
    mutating func compareWithEmpty() {
        for index in measurements.indices {
            let row = measurements[index]
            guard let ratio = row.ratio,
                let before = empty.first(where: { $0.name == row.name && $0.connections == row.connections })?.ratio
            else { continue }
            measurements[index].ratioToEmpty = ratio / before
        }
    }

    var table: String {
        let head = [
            "measurement", "conn", "req/s", "rows/s", "ratio", "÷ empty", "p50 ms", "p99 ms", "server µs/row", "PG µs/row", "server CPU s",
            "PG CPU s", "WAL B/row", "peak MiB", "refused",
        ]
        let lines =
            [head]
            + (empty + measurements).map { row in
                [
                    row.name, "\(row.connections)", format(row.requestsPerSecond, 0), format(row.rowsPerSecond, 0),
                    format(row.ratio, 2), format(row.ratioToEmpty, 2), format(row.p50Milliseconds, 2), format(row.p99Milliseconds, 2),
                    format(row.serverCPUMicrosecondsPerRow, 1), format(row.postgresCPUMicrosecondsPerRow, 1),
                    format(row.serverCPUSeconds, 1), format(row.postgresCPUSeconds, 1), format(row.walBytesPerRow, 0),
                    format(row.serverPeakMemoryMiB, 0), "\(row.refused)",
                ]
            }
        let widths = head.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let text = lines.map { line in
            line.enumerated().map { $0.offset == 0 ? $0.element.padded(to: widths[0]) : $0.element.leftPadded(to: widths[$0.offset]) }
                .joined(separator: "  ")
        }
        let failures = measurements.compactMap { row in row.failure.map { "\(row.name): \($0)" } }
        let stored = empty.isEmpty ? "\(preloadedRows)" : "first \(empty.count) lines: none, others: \(preloadedRows)"
        let start = filtersAfterSeconds.map {
            "ready after \(format(readyAfterSeconds, 1)) s, filters loaded after \(format($0, 1)) s\n"
        }
        return "rows stored before: \(stored)\n" + (start ?? "") + (text + failures).joined(separator: "\n")
    }

    private func format(_ value: Double?, _ digits: Int) -> String {
        value.map { String(format: "%.\(digits)f", $0) } ?? "–"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    fileprivate func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
