import Foundation

/// What `bench ingest --citus` measured.
struct CitusReport: Encodable, Sendable {
    struct Slice: Encodable, Sendable {
        var database: String
        var rowsPerSecond: Double
        /// Of all processes of all database servers.
        var cpuMicrosecondsPerRow: Double
        /// Of one PostgreSQL: all of it.
        var coordinatorCPUMicrosecondsPerRow: Double
        var refused: Int
        var failure: String?
    }

    var shards: Int
    var rowsPerTransaction: Int
    /// One PostgreSQL and Citus in turn, beginning and ending with the former.
    var slices: [Slice] = []

    /// All nodes' CPU time for a row to that of one PostgreSQL; the median.
    var ratio: Double { median(\.cpuMicrosecondsPerRow) }
    /// The coordinator's alone.
    var coordinatorRatio: Double { median(\.coordinatorCPUMicrosecondsPerRow) }

    /// Each slice of Citus against the mean of its neighbours.
    private func median(_ part: KeyPath<Slice, Double>) -> Double {
        let ratios = stride(from: 1, to: slices.count - 1, by: 2).map { index in
            2 * slices[index][keyPath: part] / (slices[index - 1].cpuMicrosecondsPerRow + slices[index + 1].cpuMicrosecondsPerRow)
        }.sorted()
        return ratios.isEmpty ? .nan : (ratios[(ratios.count - 1) / 2] + ratios[ratios.count / 2]) / 2
    }

    /// As `--json` prints it.
    struct Document: Encodable {
        var report: CitusReport
        var ratio: Double
        var coordinatorRatio: Double
    }

    var document: Document { Document(report: self, ratio: ratio, coordinatorRatio: coordinatorRatio) }

    var table: String {
        let lines = slices.map { slice in
            let database = slice.database + String(repeating: " ", count: max(0, 14 - slice.database.count))
            return database
                + String(
                    format: "  %7.0f rows/s  CPU %6.1f µs/row, coordinator %6.1f  refused %d",
                    slice.rowsPerSecond,
                    slice.cpuMicrosecondsPerRow,
                    slice.coordinatorCPUMicrosecondsPerRow,
                    slice.refused
                ) + (slice.failure.map { "  \($0)" } ?? "")
        }
        let ratios = String(format: "CPU ÷ one PostgreSQL: %.2f, of it the coordinator %.2f (medians)", ratio, coordinatorRatio)
        return (["\(rowsPerTransaction) rows a transaction, \(shards) shards on two workers"] + lines + [ratios]).joined(separator: "\n")
    }
}
