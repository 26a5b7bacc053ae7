import Postgres
package import PushContract

/// What waits in one queue, and how fast it goes.
package struct QueueBacklog: Sendable, Hashable {
    package var queue: SendQueue
    /// Ready to be sent now.
    package var ready: Int
    /// Failed, and waiting for their next try.
    package var retrying: Int
    /// Not due yet by the caller's wish.
    package var scheduled: Int
    /// Waiting until an open circuit closes.
    package var blocked: Int
    /// With a provider now.
    package var sending: Int
    /// Since when the oldest ready one has been waiting.
    package var oldestReadyAt: Timestamp?
    /// Deliveries that came in, and that ended, during the last `Backlog.window`.
    package var arrived: Int
    package var ended: Int

    package init(
        queue: SendQueue,
        ready: Int,
        retrying: Int,
        scheduled: Int,
        sending: Int,
        oldestReadyAt: Timestamp?,
        arrived: Int,
        ended: Int,
        blocked: Int = 0
    ) {
        self.queue = queue
        self.blocked = blocked
        self.ready = ready
        self.retrying = retrying
        self.scheduled = scheduled
        self.sending = sending
        self.oldestReadyAt = oldestReadyAt
        self.arrived = arrived
        self.ended = ended
    }

    package var drain: DrainEstimate { DrainEstimate(waiting: ready + retrying, arrived: arrived, ended: ended, over: Backlog.window) }
}

/// When a backlog will be gone if all goes on as in the last minutes.
package enum DrainEstimate: Sendable, Hashable {
    case empty
    case after(Duration)
    /// As much or more comes in than leaves.
    case growing

    /// The net rate is what left minus what came, over the window.
    package init(waiting: Int, arrived: Int, ended: Int, over window: Duration) {
        guard waiting > 0 else {
            self = .empty
            return
        }
        let net = Double(ended - arrived) / window.inSeconds
        self = net > 0 ? .after(.seconds(Double(waiting) / net)) : .growing
    }
}

/// The whole queue.
package struct Backlog: Sendable {
    /// How far back rates look.
    package static let window = Duration.seconds(300)

    package var queues: [QueueBacklog]
    /// By the database's clock.
    package var at: Timestamp
    /// The open circuits.
    package var circuits: [Circuit] = []
    /// Queues that wait because their provider asked for it.
    package var pauses: [RateLimitPause] = []

    package var ready: Int { queues.reduce(0) { $0 + $1.ready } }
    package var retrying: Int { queues.reduce(0) { $0 + $1.retrying } }
    package var scheduled: Int { queues.reduce(0) { $0 + $1.scheduled } }
    package var blocked: Int { queues.reduce(0) { $0 + $1.blocked } }
    package var sending: Int { queues.reduce(0) { $0 + $1.sending } }
    /// Ready deliveries of queues that a rate-limit pause stops.
    package var paused: Int { queues.reduce(0) { sum, queue in sum + (pauses.contains { $0.applies(to: queue.queue) } ? queue.ready : 0) } }
    /// Deliveries that are due and not sent: for a retry, for a circuit, for the end of a pause, or for more than a minute.
    package var overdue: Int {
        let late = queues.reduce(0) { sum, queue in sum + (queue.oldestReadyAt.map { at - $0 > .seconds(60) } == true ? queue.ready : 0) }
        return retrying + blocked + max(paused, late)
    }
    package var oldestReadyAt: Timestamp? { queues.compactMap(\.oldestReadyAt).min() }

    package var drain: DrainEstimate {
        DrainEstimate(
            waiting: ready + retrying,
            arrived: queues.reduce(0) { $0 + $1.arrived },
            ended: queues.reduce(0) { $0 + $1.ended },
            over: Backlog.window
        )
    }
}

extension SendStore {
    /// Depth, age and rates of every queue, in one snapshot.
    package func backlog() async throws -> Backlog {
        let rows = try await pool.query(BacklogQueries.queues)
        let queues = try rows.map(QueueBacklog.init)
        let at = try await pool.query("SELECT clock_timestamp()")[0].decode(Timestamp.self)
        let pauses = try await pauses().filter { $0.until > at }
        return Backlog(queues: queues, at: at, circuits: try await circuits(), pauses: pauses)
    }
}

private enum BacklogQueries {
    static let queues: Query = """
        WITH ready AS (
            SELECT queue, count(*) AS ready, min(readyAt) AS oldest FROM pushReady GROUP BY queue
        ), later AS (
            SELECT queue, count(*) FILTER (WHERE circuitId IS NULL AND reasonCode IS NOT NULL) AS retrying,
                count(*) FILTER (WHERE circuitId IS NULL AND reasonCode IS NULL) AS scheduled, count(circuitId) AS blocked
            FROM pushScheduled GROUP BY queue
        ), leased AS (
            SELECT queue, count(*) AS sending FROM pushLeases GROUP BY queue
        ), arrived AS (
            SELECT queue, count(*) AS arrived FROM pushDeliveries
            WHERE createdAt > clock_timestamp() - interval '300 seconds' GROUP BY queue
        ), ended AS (
            SELECT queue, count(*) AS ended FROM (
                SELECT queue FROM pushFinished WHERE finishedAt > clock_timestamp() - interval '300 seconds'
                UNION ALL
                SELECT queue FROM pushDead WHERE finishedAt > clock_timestamp() - interval '300 seconds'
            ) e GROUP BY queue
        )
        SELECT l.queue, l.app, l.provider, l.environment, l.class, coalesce(ready, 0), coalesce(retrying, 0), coalesce(scheduled, 0),
            coalesce(sending, 0), oldest, coalesce(arrived, 0), coalesce(ended, 0), coalesce(blocked, 0)
        FROM pushQueues l
        LEFT JOIN ready USING (queue) LEFT JOIN later USING (queue) LEFT JOIN leased USING (queue)
        LEFT JOIN arrived USING (queue) LEFT JOIN ended USING (queue)
        ORDER BY l.queue
        """
}

extension QueueBacklog {
    fileprivate init(_ row: Row) throws {
        let values = try row.decode((Int32, String, String, String, String, Int, Int, Int, Int, Timestamp?, Int, Int, Int).self)
        self.init(
            queue: SendQueue(
                id: values.0,
                app: values.1,
                provider: try stored(values.2),
                environment: try stored(values.3),
                deliveryClass: try stored(values.4)
            ),
            ready: values.5,
            retrying: values.6,
            scheduled: values.7,
            sending: values.8,
            oldestReadyAt: values.9,
            arrived: values.10,
            ended: values.11,
            blocked: values.12
        )
    }
}
