import Postgres
package import PushContract

/// What waits in one queue, and how fast it goes.
package struct QueueBacklog: Sendable, Hashable {
    /// What waited at an earlier moment.
    package struct Sample: Sendable, Hashable {
        package var at: Timestamp
        package var queued: Int
        package var retrying: Int

        package init(at: Timestamp, queued: Int, retrying: Int) {
            self.at = at
            self.queued = queued
            self.retrying = retrying
        }
    }

    package var queue: SendQueue
    /// Due, and not attempted yet.
    package var queued: Int
    /// Attempted, and waiting for the next attempt, those that are due included.
    package var retrying: Int
    /// Of these, how many are due.
    var retriesDue: Int
    /// Not due yet by the caller's wish.
    package var scheduled: Int
    /// Waiting until an open circuit closes.
    package var blocked: Int
    /// With a provider now.
    package var sending: Int
    /// Since when the oldest ready one has been waiting.
    package var oldestReadyAt: Timestamp?
    /// Deliveries that ended during the last minute, at their first attempt and later.
    package var ended: Int
    package var retriesEnded: Int
    /// What waited during the last minute.
    package var samples: [Sample]

    package init(
        queue: SendQueue,
        queued: Int,
        retrying: Int,
        retriesDue: Int = 0,
        scheduled: Int,
        blocked: Int = 0,
        sending: Int,
        oldestReadyAt: Timestamp?,
        ended: Int,
        retriesEnded: Int,
        samples: [Sample] = []
    ) {
        self.queue = queue
        self.queued = queued
        self.retrying = retrying
        self.retriesDue = retriesDue
        self.scheduled = scheduled
        self.blocked = blocked
        self.sending = sending
        self.oldestReadyAt = oldestReadyAt
        self.ended = ended
        self.retriesEnded = retriesEnded
        self.samples = samples
    }

    /// Can be attempted now.
    package var ready: Int { queued + retriesDue }
    /// Due, or to be retried.
    package var waiting: Int { queued + retrying }
}

/// The whole queue.
package struct Backlog: Sendable {
    package var queues: [QueueBacklog]
    /// By the database's clock.
    package var at: Timestamp
    /// The open circuits.
    package var circuits: [Circuit] = []
    /// Queues that wait because their provider asked for it.
    package var pauses: [RateLimitPause] = []

    package var queued: Int { queues.reduce(0) { $0 + $1.queued } }
    package var ready: Int { queues.reduce(0) { $0 + $1.ready } }
    package var retrying: Int { queues.reduce(0) { $0 + $1.retrying } }
    package var scheduled: Int { queues.reduce(0) { $0 + $1.scheduled } }
    package var blocked: Int { queues.reduce(0) { $0 + $1.blocked } }
    package var sending: Int { queues.reduce(0) { $0 + $1.sending } }
    /// Ready deliveries of queues that a rate-limit pause stops.
    package var paused: Int { queues.reduce(0) { sum, queue in sum + (pauses.contains { $0.applies(to: queue.queue) } ? queue.ready : 0) } }
    /// Deliveries that are due and not sent: for a retry, for a circuit, for the end of a pause, or for more than a minute.
    package var overdue: Int {
        let late = queues.reduce(0) { sum, queue in
            let isLate = queue.oldestReadyAt.map { at - $0 > .seconds(60) } ?? false
            return sum + (isLate || pauses.contains { $0.applies(to: queue.queue) } ? queue.queued : 0)
        }
        return retrying + blocked + late
    }
    package var oldestReadyAt: Timestamp? { queues.compactMap(\.oldestReadyAt).min() }
}

extension SendStore {
    /// Depth, age and rates of every queue, in one snapshot.
    package func backlog() async throws -> Backlog {
        let rows = try await pool.query(BacklogQueries.queues)
        let at = try await pool.query("SELECT clock_timestamp()")[0].decode(Timestamp.self)
        let samples = try await samples(at: at)
        let queues = try rows.map { row in
            var queue = try QueueBacklog(row)
            let id = queue.queue.id
            queue.samples = samples.map { QueueBacklog.Sample(at: $0.at, queued: $0.queued[id] ?? 0, retrying: $0.retrying[id] ?? 0) }
            return queue
        }
        let pauses = try await pauses().filter { $0.until > at }
        return Backlog(queues: queues, at: at, circuits: try await circuits(), pauses: pauses)
    }
}

private enum BacklogQueries {
    static let queues: Query = """
        WITH ready AS (
            SELECT queue, count(*) FILTER (WHERE attemptNumber = 1) AS queued, count(*) FILTER (WHERE attemptNumber > 1) AS retriesDue,
                min(readyAt) AS oldest
            FROM pushReady GROUP BY queue
        ), later AS (
            SELECT queue, count(*) FILTER (WHERE circuitId IS NULL AND reasonCode IS NOT NULL) AS retrying,
                count(*) FILTER (WHERE circuitId IS NULL AND reasonCode IS NULL) AS scheduled, count(circuitId) AS blocked
            FROM pushScheduled GROUP BY queue
        ), leased AS (
            SELECT queue, count(*) AS sending FROM pushLeasedDeliveries GROUP BY queue
        ), ended AS (
            SELECT queue, count(*) FILTER (WHERE attempts < 2) AS ended, count(*) FILTER (WHERE attempts > 1) AS retriesEnded FROM (
                SELECT queue, attempts FROM pushFinished WHERE finishedAt > statement_timestamp() - interval '60 seconds'
                UNION ALL
                SELECT queue, attempts FROM pushDead WHERE finishedAt > statement_timestamp() - interval '60 seconds'
            ) e GROUP BY queue
        )
        SELECT l.queue, l.app, l.provider, l.environment, l.class, coalesce(queued, 0), coalesce(retrying, 0), coalesce(retriesDue, 0),
            coalesce(scheduled, 0), coalesce(sending, 0), oldest, coalesce(ended, 0), coalesce(retriesEnded, 0), coalesce(blocked, 0)
        FROM pushQueues l
        LEFT JOIN ready USING (queue) LEFT JOIN later USING (queue) LEFT JOIN leased USING (queue) LEFT JOIN ended USING (queue)
        ORDER BY l.queue
        """
}

extension QueueBacklog {
    fileprivate init(_ row: Row) throws {
        let values = try row.decode((Int32, String, String, String, String, Int, Int, Int, Int, Int, Timestamp?, Int, Int, Int).self)
        self.init(
            queue: SendQueue(
                id: values.0,
                app: values.1,
                provider: try stored(values.2),
                environment: try stored(values.3),
                deliveryClass: try stored(values.4)
            ),
            queued: values.5,
            retrying: values.6 + values.7,
            retriesDue: values.7,
            scheduled: values.8,
            blocked: values.13,
            sending: values.9,
            oldestReadyAt: values.10,
            ended: values.11,
            retriesEnded: values.12
        )
    }
}
