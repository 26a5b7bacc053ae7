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
    /// - Parameter credential: the one in use here; another than the circuit's has one turn at once.
    package func reserveProbe(_ circuit: Circuit, credential: String, interval: Duration) async throws -> Bool {
        try await pool.execute(
            """
            UPDATE pushCircuits SET probes = probes + 1, probedWith = \(credential),
                nextProbeAt = clock_timestamp() + \(interval.inSeconds) * interval '1 second'
            WHERE circuitId = \(circuit.id) AND closedAt IS NULL
              AND (nextProbeAt <= clock_timestamp() OR (credential <> \(credential) AND probedWith IS DISTINCT FROM \(credential)))
            """
        ) == 1
    }

    /// Leases one of the deliveries that a circuit blocks; nil when it blocks none.
    func claimProbe(of circuit: Circuit, lease: Duration, worker: String) async throws -> ClaimedDelivery? {
        let rows = try await pool.query(ClaimQueries.probe(circuit: circuit.id, lease: lease, worker: worker))
        guard var delivery = try await complete(rows).first else { return nil }
        delivery.probeOf = circuit.id
        return delivery
    }

    /// Closes a circuit that blocks nothing. People close one with an entry in the audit.
    func closeCircuit(_ id: Int64, by name: String) async throws {
        _ = try await pool.performTransaction { try CircuitQueries.close([id], by: name, on: $0) }
    }

    /// Makes up to `limit` deliveries ready whose circuit is closed, the most urgent class first; how many.
    func requeueUnblocked(limit: Int) async throws -> Int {
        try await pool.execute(
            """
            WITH freed AS MATERIALIZED (
                SELECT s.deliveryId FROM pushCircuits h
                CROSS JOIN LATERAL (SELECT queue FROM pushQueues WHERE app = h.app AND provider = h.provider ORDER BY class) q
                CROSS JOIN LATERAL (
                    SELECT deliveryId FROM pushScheduled WHERE circuitId = h.circuitId AND queue = q.queue
                    ORDER BY attemptNumber, deliveryId LIMIT \(limit) FOR UPDATE SKIP LOCKED
                ) s
                WHERE h.closedAt > clock_timestamp() - interval '1 day' LIMIT \(limit)
            ), moved AS (
                DELETE FROM pushScheduled WHERE deliveryId = ANY(ARRAY(SELECT deliveryId FROM freed))
                RETURNING deliveryId, queue, attemptNumber
            )
            INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt)
            SELECT queue, deliveryId, attemptNumber, clock_timestamp() FROM moved ORDER BY deliveryId
            """
        )
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
