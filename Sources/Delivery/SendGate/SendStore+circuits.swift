import Postgres
package import PushContract

extension SendStore {
    /// The open circuits, oldest first.
    package func circuits() async throws -> [Circuit] {
        try await pool.query("SELECT \(raw: CircuitQueries.columns) FROM pushCircuits WHERE closedAt IS NULL ORDER BY circuitId").map(
            Circuit.init
        )
    }

    /// The open circuits, and those that closed after `end`, with the number of deliveries that they block: counted up to 100,000, so that
    /// a million of them is no work.
    package func waitingCircuits(endedAfter end: Timestamp) async throws -> [WaitingCircuit] {
        try await pool.query(
            """
            SELECT circuitId, kind, provider, app, environment, platform, cause, since, closedAt,
                   CASE WHEN closedAt IS NULL THEN
                       (SELECT count(*) FROM (SELECT FROM pushScheduled s WHERE s.circuitId = h.circuitId LIMIT 100000) waiting)
                   ELSE 0 END
            FROM pushCircuits h WHERE closedAt IS NULL OR closedAt > \(end) ORDER BY circuitId
            """
        ).map(WaitingCircuit.init)
    }

    /// The pauses that are not over, and those that were lately.
    package func pauses() async throws -> [RateLimitPause] { try await pausesWithDatabaseTime().pauses }

    /// The same, with the database's time; nil without pauses.
    func pausesWithDatabaseTime() async throws -> (pauses: [RateLimitPause], at: Timestamp?) {
        let rows = try await pool.query(
            "SELECT \(raw: CircuitQueries.pauseColumns), clock_timestamp() FROM pushRateLimitPauses ORDER BY provider, app"
        )
        let read = try rows.map(RateLimitPause.read)
        return (read.map(\.pause), read.first?.at)
    }

    /// Reads the circuits in force and the pauses into a gate; the circuits.
    @discardableResult
    package func refresh(_ gate: SendGate) async throws -> [Circuit] {
        let circuits = try await circuits()
        let probed = try await closedByProbe(gate.missing(from: circuits))
        let (pauses, at) = try await pausesWithDatabaseTime()
        gate.replace(circuits: circuits, probed: probed, pauses: pauses, offset: at.map { $0 - .now() } ?? .zero)
        return circuits
    }

    /// Those of these circuits that an accepted probe has closed.
    private func closedByProbe(_ ids: [Int64]) async throws -> Set<Int64> {
        guard !ids.isEmpty else { return [] }
        let rows = try await pool.query(
            "SELECT circuitId FROM pushCircuits WHERE circuitId = ANY(\(ids)) AND closedBy = \(CircuitQueries.probe)"
        )
        return Set(try rows.map { try $0.decode(Int64.self) })
    }

    /// Takes the turn of making a probe: false when somebody else has it. Moves the next turn on by `interval`.
    ///
    /// - Parameters:
    ///   - credential: the one in use here; another than the circuit's has one turn at once.
    ///   - fromQueue: the probe is to be a delivery that the circuit blocks. Without one the turn is left to others.
    package func reserveProbe(_ circuit: Circuit, credential: String, interval: Duration, fromQueue: Bool = false) async throws -> Bool {
        let condition: Query = fromQueue ? "(SELECT true FROM pushScheduled WHERE circuitId = h.circuitId LIMIT 1)" : "true"
        return try await pool.execute(
            """
            UPDATE pushCircuits h SET probes = probes + 1, probedWith = \(credential),
                nextProbeAt = clock_timestamp() + \(interval.inSeconds) * interval '1 second'
            WHERE circuitId = \(circuit.id) AND closedAt IS NULL
              AND (nextProbeAt <= clock_timestamp() OR (credential <> \(credential) AND probedWith IS DISTINCT FROM \(credential)))
              AND \(condition)
            """
        ) == 1
    }

    /// Leases one of the deliveries that a circuit blocks; nil when others have locked all of them, or have ended them.
    func claimProbe(of circuit: Circuit, lease: Duration, worker: String) async throws -> ClaimedDelivery? {
        let rows = try await pool.query(ClaimQueries.probe(circuit: circuit.id, lease: lease, worker: worker))
        guard var delivery = try await complete(rows).first else { return nil }
        delivery.probeOf = circuit.id
        return delivery
    }

    /// Gives back the turn of a probe that was not begun.
    func returnProbe(of circuit: Circuit) async throws {
        try await pool.performTransaction { try CircuitQueries.returnProbes([circuit.id], on: $0) }
    }

    /// Closes the circuits that block nothing and that nobody has made a probe for (`CircuitDecision.idleLimit`). That says nothing of the
    /// provider, so retries of an outage keep their times. A circuit that somebody has locked is not idle: a refusal is being written, or
    /// what it blocks.
    func closeIdleCircuits() async throws {
        try await pool.execute(
            """
            UPDATE pushCircuits SET closedAt = clock_timestamp(), closedBy = 'nothing waits', nextProbeAt = 'infinity'
            WHERE circuitId = ANY(ARRAY(
                SELECT circuitId FROM pushCircuits h
                WHERE closedAt IS NULL
                  AND greatest(nextProbeAt, lastRefusedAt) < clock_timestamp() - \(CircuitDecision.idleLimit.inSeconds) * interval '1 second'
                  AND (SELECT true FROM pushScheduled WHERE circuitId = h.circuitId LIMIT 1) IS NULL
                FOR UPDATE SKIP LOCKED
            ))
            """
        )
    }

    /// The circuits that have closed (after `since`, if it is given) and that deliveries still wait for.
    func unblockedCircuits(since: Timestamp? = nil) async throws -> [Int64] {
        try await pool.query(
            """
            SELECT h.circuitId FROM pushCircuits h
            CROSS JOIN LATERAL (SELECT FROM pushScheduled WHERE circuitId = h.circuitId LIMIT 1) s
            WHERE h.closedAt > coalesce(\(since), timestamptz '-infinity')
            """
        ).map { try $0.decode(Int64.self) }
    }

    /// Makes up to `limit` deliveries ready that closed circuits blocked, the most urgent class first; how many.
    func requeueUnblocked(_ circuits: [Int64], limit: Int) async throws -> Int {
        try await pool.execute(
            """
            WITH freed AS MATERIALIZED (
                SELECT s.deliveryId FROM (
                    SELECT h.circuitId, q.queue FROM pushCircuits h JOIN pushQueues q ON q.app = h.app AND q.provider = h.provider
                    WHERE h.circuitId = ANY(\(circuits)) ORDER BY q.class
                ) b
                CROSS JOIN LATERAL (
                    SELECT deliveryId FROM pushScheduled WHERE circuitId = b.circuitId AND queue = b.queue
                    ORDER BY attemptNumber, deliveryId LIMIT \(limit) FOR UPDATE SKIP LOCKED
                ) s
                LIMIT \(limit)
            ), moved AS (
                DELETE FROM pushScheduled WHERE deliveryId = ANY(ARRAY(SELECT deliveryId FROM freed))
                RETURNING deliveryId, queue, attemptNumber
            )
            INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
            SELECT queue, deliveryId, attemptNumber, clock_timestamp() FROM moved ORDER BY deliveryId
            """
        )
    }

    /// Queues whose retries need not wait any more, as the outage of a circuit is over, the most urgent first. Each circuit is taken once,
    /// by one process. After 15 minutes, the longest wait of a retry, none of them is left.
    func takeOutageQueues() async throws -> [Int32] {
        try await pool.query(
            """
            WITH taken AS (
                UPDATE pushCircuits SET nextProbeAt = 'infinity'
                WHERE closedAt > statement_timestamp() - interval '15 minutes' AND kind <> 'refused' AND nextProbeAt < 'infinity'
                RETURNING app, provider, environment
            )
            SELECT queue FROM pushQueues WHERE (app, provider, environment) IN (SELECT app, provider, environment FROM taken)
            ORDER BY class, queue
            """
        ).map { try $0.decode(Int32.self) }
    }

    /// Makes the first `limit` retries of an outage ready that are behind a delivery; which ones, in order.
    func requeueRetries(of queue: Int32, after: Int64, limit: Int) async throws -> [Int64] {
        // Who has one locked ends it or moves it.
        try await pool.query(
            """
            WITH freed AS MATERIALIZED (
                SELECT deliveryId FROM pushScheduled
                WHERE queue = \(queue) AND circuitId IS NULL AND reasonCode IN ('provider_5xx', 'network') AND deliveryId > \(after)
                ORDER BY deliveryId LIMIT \(limit) FOR UPDATE SKIP LOCKED
            ), moved AS (
                DELETE FROM pushScheduled WHERE deliveryId = ANY(ARRAY(SELECT deliveryId FROM freed))
                RETURNING deliveryId, queue, attemptNumber
            ), ready AS (
                INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
                SELECT queue, deliveryId, attemptNumber, clock_timestamp() FROM moved ORDER BY deliveryId
            )
            SELECT deliveryId FROM freed ORDER BY deliveryId
            """
        ).map { try $0.decode(Int64.self) }
    }

    /// Removes pauses that mean nothing any more, and circuits that closed long ago.
    func deleteClosedCircuits() async throws {
        try await pool.execute("DELETE FROM pushRateLimitPauses WHERE pausedUntil < clock_timestamp() - interval '1 hour'")
        try await pool.execute("DELETE FROM pushCircuits WHERE closedAt < clock_timestamp() - interval '45 days'")
    }
}

extension Circuit {
    init(_ row: Row) throws {
        let values = try row.decode(
            (
                Int64, String, String, String, String, String, String, String, String, Timestamp, Timestamp, Int64, Int32, Timestamp,
                String?
            ).self
        )
        self.init(
            id: values.0,
            scope: CircuitScope(
                try stored(values.1),
                provider: try stored(values.2),
                app: values.3,
                environment: try stored(values.4),
                platform: values.5.isEmpty ? nil : try stored(values.5),
                topic: values.6.isEmpty ? nil : values.6,
                credential: values.7
            ),
            cause: values.8,
            since: values.9,
            lastRefusedAt: values.10,
            refusals: values.11,
            probes: Int(values.12),
            nextProbeAt: values.13,
            probedWith: values.14
        )
    }
}

extension RateLimitPause {
    /// With the database's time.
    static func read(_ row: Row) throws -> (pause: RateLimitPause, at: Timestamp) {
        let values = try row.decode((String, String, String, Timestamp, Timestamp, Timestamp?, Int32, Timestamp).self)
        let pause = RateLimitPause(
            provider: try stored(values.0),
            app: values.1,
            cause: values.2,
            since: values.3,
            until: values.4,
            requestedUntil: values.5,
            number: Int(values.6)
        )
        return (pause, values.7)
    }
}
