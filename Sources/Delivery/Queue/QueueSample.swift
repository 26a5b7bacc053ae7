import Postgres
import PushContract

/// What waited at one moment, by queue; a queue in which nothing waited is left out.
struct QueueSample: Sendable {
    var at: Timestamp
    var queued: [Int32: Int]
    var retrying: [Int32: Int]
}

extension SendStore {
    /// Samples are some seconds apart, regardless of how many instances take them.
    private static let sampleInterval = Duration.seconds(4)
    private static let sampleRetention = Duration.seconds(300)

    /// Stores what waits now, unless there is a sample of these seconds.
    func sample(_ backlog: Backlog) async throws {
        let queues = backlog.queues.filter { $0.waiting > 0 }
        try await pool.execute(
            """
            INSERT INTO pushQueueSamples (at, queues, queued, retrying)
            SELECT \(backlog.at), \(queues.map(\.queue.id)), \(queues.map { Int64($0.queued) }), \(queues.map { Int64($0.retrying) })
            WHERE NOT EXISTS (SELECT FROM pushQueueSamples WHERE at > \(backlog.at - Self.sampleInterval))
            ON CONFLICT DO NOTHING
            """
        )
        try await pool.execute("DELETE FROM pushQueueSamples WHERE at < \(backlog.at - Self.sampleRetention)")
    }

    /// The samples of the last minute.
    func samples(at now: Timestamp) async throws -> [QueueSample] {
        try await pool.query("SELECT at, queues, queued, retrying FROM pushQueueSamples WHERE at >= \(now - Drain.window)").map { row in
            let (at, queues, queued, retrying) = try row.decode((Timestamp, [Int32], [Int64], [Int64]).self)
            return QueueSample(
                at: at,
                queued: Dictionary(zip(queues, queued.map(Int.init))) { first, _ in first },
                retrying: Dictionary(zip(queues, retrying.map(Int.init))) { first, _ in first }
            )
        }
    }
}
