package import PushContract

/// How a part of a backlog changes: first attempts, or retries.
package struct Drain: Sendable, Hashable {
    /// How far back it looks.
    package static let window = Duration.seconds(60)

    /// Which way what waits goes. A backlog that falls is never growing.
    package enum Trend: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing waits.
        case empty
        /// Less waits than at some moment of the last minute.
        case draining
        /// As much waits as during the last minute.
        case steady
        /// More waits than at some moment of the last minute, and less at none.
        case growing
        /// Nothing was sampled in the last minute: no instance sends.
        case unknown
    }

    package var waiting: Int
    /// That began to wait in the last minute, derived from the others; nil without samples.
    package var arrived: Int?
    /// That stopped waiting in the last minute, whether they were sent or not.
    package var ended: Int
    package var trend: Trend
    /// Until nothing waits, if it goes on as since the peak of the last minute; only while draining.
    package var eta: Duration?

    /// - Parameter samples: what waited earlier, in any order; those from before the window are ignored.
    package init(waiting: Int, ended: Int, samples: [(at: Timestamp, waiting: Int)], now: Timestamp) {
        self.waiting = waiting
        self.ended = ended
        let recent = samples.filter { $0.at >= now - Drain.window && $0.at < now }.sorted { $0.at < $1.at }
        guard let first = recent.first, let peak = recent.last(where: { sample in recent.allSatisfy { $0.waiting <= sample.waiting } })
        else {
            trend = waiting == 0 ? .empty : .unknown
            return
        }
        arrived = max(0, waiting - first.waiting + ended)
        if waiting == 0 {
            trend = .empty
        } else if waiting < peak.waiting {
            trend = .draining
            eta = .seconds((now - peak.at).inSeconds * Double(waiting) / Double(peak.waiting - waiting))
        } else {
            trend = recent.contains { $0.waiting < waiting } ? .growing : .steady
        }
    }
}

extension Drain {
    /// Of retries: they begin with a failed attempt, and end with the delivery.
    package static func retries(of queues: [QueueBacklog], now: Timestamp) -> Drain {
        Drain(
            waiting: queues.reduce(0) { $0 + $1.retrying },
            ended: queues.reduce(0) { $0 + $1.retriesEnded },
            samples: samples(of: queues, \.retrying),
            now: now
        )
    }

    /// Of first attempts: a delivery whose first attempt is to be retried has left them.
    package static func queued(of queues: [QueueBacklog], now: Timestamp) -> Drain {
        Drain(
            waiting: queues.reduce(0) { $0 + $1.queued },
            ended: queues.reduce(0) { $0 + $1.ended } + (retries(of: queues, now: now).arrived ?? 0),
            samples: samples(of: queues, \.queued),
            now: now
        )
    }

    /// Of both together.
    package static func all(of queues: [QueueBacklog], now: Timestamp) -> Drain {
        Drain(
            waiting: queues.reduce(0) { $0 + $1.waiting },
            ended: queues.reduce(0) { $0 + $1.ended + $1.retriesEnded },
            samples: samples(of: queues) { $0.queued + $0.retrying },
            now: now
        )
    }

    private static func samples(
        of queues: [QueueBacklog],
        _ waiting: (QueueBacklog.Sample) -> Int
    ) -> [(at: Timestamp, waiting: Int)] {
        Dictionary(grouping: queues.flatMap(\.samples), by: \.at).map { at, samples in
            (at, samples.reduce(0) { $0 + waiting($1) })
        }
    }
}
