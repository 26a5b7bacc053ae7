import Metrics

/// What ingestion counts about itself.
enum IngestMetrics {
    static let commit = Metrics.Timer(label: "pushwatch_ingest_commit_seconds")
    static let rowsPerCommit = Recorder(label: "pushwatch_ingest_commit_rows")
    static let waitingRows = Gauge(label: "pushwatch_ingest_waiting_rows")
    static let failures = Counter(label: "pushwatch_ingest_failed_commits_total")

    private static let accepted = counter("accepted")
    private static let duplicate = counter("duplicate")
    private static let advanced = counter("advanced")
    private static let conflict = counter("conflict")
    static let rejected = counter("rejected")

    /// Makes the series that the first event would make: the rate of a series does not count the event it begins with.
    static func begin() {
        failures.increment(by: 0)
        waitingRows.record(0)
    }

    private static func counter(_ result: String) -> Counter {
        Counter(label: "pushwatch_attempts_total", dimensions: [("result", result)])
    }

    static func count(_ results: [AttemptResult]) {
        var counts = (accepted: 0, duplicate: 0, advanced: 0, conflict: 0)
        for result in results {
            switch result {
            case .accepted: counts.accepted += 1
            case .duplicate: counts.duplicate += 1
            case .advanced: counts.advanced += 1
            case .conflict: counts.conflict += 1
            }
        }
        accepted.increment(by: counts.accepted)
        duplicate.increment(by: counts.duplicate)
        advanced.increment(by: counts.advanced)
        conflict.increment(by: counts.conflict)
    }
}
