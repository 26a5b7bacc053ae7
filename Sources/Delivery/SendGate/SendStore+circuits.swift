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
        let (pauses, at) = try await pausesWithDatabaseTime()
        gate.replace(circuits: circuits, pauses: pauses, offset: at.map { $0 - .now() } ?? .zero)
        return circuits
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
        let row = try await pool.query(ClaimQueries.probe(circuit: circuit.id, lease: lease, worker: worker)).first
        guard let row else { return nil }
        var delivery = await kinds.completing(try await markDead([try ClaimedDelivery(row, cipher: cipher)]))[0]
        delivery.probeOf = circuit.id
        return delivery
    }

    /// Closes a circuit; its deliveries become due (`requeueUnblocked`). False when it is closed already.
    package func closeCircuit(_ id: Int64, by name: String) async throws -> Bool {
        try await pool.performTransaction { try CircuitQueries.close([id], by: name, on: $0) == 1 }
    }

    /// Ends a rate-limit pause before its time; false when there is none.
    package func endPause(provider: Provider, app: String) async throws -> Bool {
        try await pool.execute(
            """
            UPDATE pushRateLimitPauses SET pausedUntil = clock_timestamp(), requestedUntil = NULL
            WHERE provider = \(provider.rawValue)::pushProvider AND app = \(app) AND pausedUntil > clock_timestamp()
            """
        ) == 1
    }

    /// Makes up to `limit` deliveries ready whose circuit is closed, the most urgent class first; how many.
    func requeueUnblocked(limit: Int = 5000) async throws -> Int {
        try await pool.execute(
            """
            WITH freed AS MATERIALIZED (
                SELECT s.deliveryId, q.class FROM pushCircuits h
                CROSS JOIN LATERAL (SELECT queue, class FROM pushQueues WHERE app = h.app AND provider = h.provider ORDER BY class) q
                CROSS JOIN LATERAL (
                    SELECT deliveryId FROM pushScheduled WHERE circuitId = h.circuitId AND queue = q.queue
                    ORDER BY attemptNumber, deliveryId LIMIT \(limit) FOR UPDATE SKIP LOCKED
                ) s
                WHERE h.closedAt > clock_timestamp() - interval '1 day' LIMIT \(limit)
            ), moved AS (
                DELETE FROM pushScheduled s USING freed WHERE s.deliveryId = freed.deliveryId
                RETURNING s.deliveryId, s.queue, s.attemptNumber
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

/// Circuits and pauses inside the transaction that writes outcomes.
enum CircuitQueries {
    static let columns = """
        circuitId, kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt, refusals, probes, nextProbeAt,
        probedWith
        """
    static let pauseColumns = "provider, app, cause, since, pausedUntil, requestedUntil, number"

    /// Opens circuits, or counts further refusals of those that are open. In one order, as two transactions may open the same ones.
    static func open(_ openings: [CircuitOpening], on connection: BlockingConnection) throws -> [CircuitScope: Circuit] {
        var counts: [CircuitScope: (opening: CircuitOpening, refusals: Int64)] = [:]
        for opening in openings { counts[opening.scope, default: (opening, 0)].refusals += 1 }
        let rows = counts.values.sorted { $0.opening.scope.key < $1.opening.scope.key }
        guard !rows.isEmpty else { return [:] }
        let scopes = rows.map(\.opening.scope)
        let circuits = try connection.query(
            """
            INSERT INTO pushCircuits AS h
                (kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt, refusals, nextProbeAt)
            SELECT kind::circuitKind, provider::pushProvider, app, environment::pushEnvironment, platform, topic, credential, cause,
                clock_timestamp(), clock_timestamp(), refusals, clock_timestamp() + wait * interval '1 second'
            FROM unnest(\(scopes.map(\.kind.rawValue)), \(scopes.map(\.provider.rawValue)), \(scopes.map(\.app)),
                \(scopes.map(\.environment.rawValue)), \(scopes.map { $0.platform?.rawValue ?? "" }), \(scopes.map { $0.topic ?? "" }),
                \(scopes.map(\.credential)), \(rows.map(\.opening.cause)), \(rows.map(\.refusals)),
                \(rows.map(\.opening.probeAfter.inSeconds)))
                AS t(kind, provider, app, environment, platform, topic, credential, cause, refusals, wait)
            ON CONFLICT (kind, provider, app, environment, platform, topic, credential) WHERE closedAt IS NULL
            DO UPDATE SET refusals = h.refusals + excluded.refusals, lastRefusedAt = excluded.lastRefusedAt, cause = excluded.cause
            RETURNING \(raw: columns)
            """
        ).map(Circuit.init)
        return Dictionary(uniqueKeysWithValues: circuits.map { ($0.scope, $0) })
    }

    /// Closes circuits; how many were open. The retries of an outage do not wait for their time any more.
    @discardableResult
    static func close(_ ids: Set<Int64>, by name: String = "probe", on connection: BlockingConnection) throws -> Int {
        guard !ids.isEmpty else { return 0 }
        let rows = try connection.query(
            """
            UPDATE pushCircuits SET closedAt = clock_timestamp(), closedBy = \(name)
            WHERE circuitId = ANY(\(ids.sorted())) AND closedAt IS NULL
            RETURNING circuitId, kind <> 'refused'
            """
        )
        let outages = try rows.compactMap { row in
            let (id, isOutage) = try row.decode((Int64, Bool).self)
            return isOutage ? id : nil
        }
        if !outages.isEmpty {
            try connection.execute(
                """
                UPDATE pushScheduled s SET runAt = clock_timestamp()
                FROM pushCircuits h JOIN pushQueues q ON q.app = h.app AND q.provider = h.provider AND q.environment = h.environment
                WHERE h.circuitId = ANY(\(outages)) AND s.queue = q.queue AND s.circuitId IS NULL
                  AND s.reasonCode IN ('provider_5xx', 'network') AND s.runAt > clock_timestamp()
                """
            )
        }
        return rows.count
    }

    /// A probe that ended without a try has proved nothing: the next one may go at once.
    static func rescheduleProbe(_ ids: Set<Int64>, on connection: BlockingConnection) throws {
        guard !ids.isEmpty else { return }
        try connection.execute(
            "UPDATE pushCircuits SET nextProbeAt = clock_timestamp() WHERE circuitId = ANY(\(ids.sorted())) AND closedAt IS NULL"
        )
    }

    /// Pauses queues, or makes their pauses longer.
    static func pause(_ requests: [RateLimitRequest], delays: RetryDelays, on connection: BlockingConnection) throws -> [RateLimitPause] {
        let ordered = requests.sorted { ($0.provider.rawValue, $0.app) < ($1.provider.rawValue, $1.app) }
        // All at once, in the order of the rows: two transactions may want the same ones.
        _ = try connection.query(KeyLock.take(.pause, ordered.map { "\($0.provider.rawValue):\($0.app)" }))
        var pauses: [RateLimitPause] = []
        for group in ordered.grouped(by: { "\($0.provider.rawValue) \($0.app)" }) {
            let (provider, app) = (group[0].provider, group[0].app)
            let now = try connection.query("SELECT clock_timestamp()")[0].decode(Timestamp.self)
            let current = try connection.query(
                """
                SELECT \(raw: pauseColumns), clock_timestamp() FROM pushRateLimitPauses
                WHERE provider = \(provider.rawValue)::pushProvider AND app = \(app)
                """
            ).first.map { try RateLimitPause.read($0).pause }
            let next = group.reduce(current) { RateLimitDecision.next($1, after: $0, delays: delays, now: now) }
            guard let next, next != current else { continue }
            try connection.execute(
                """
                INSERT INTO pushRateLimitPauses (provider, app, cause, since, pausedUntil, requestedUntil, number)
                VALUES (\(provider.rawValue), \(app), \(next.cause), \(next.since), \(next.until), \(next.requestedUntil), \(next.number))
                ON CONFLICT (provider, app) DO UPDATE SET cause = excluded.cause, since = excluded.since,
                    pausedUntil = excluded.pausedUntil, requestedUntil = excluded.requestedUntil, number = excluded.number
                """
            )
            pauses.append(next)
        }
        return pauses
    }
}

extension Array {
    /// Runs of equal keys.
    fileprivate func grouped(by key: (Element) -> String) -> [[Element]] {
        Dictionary(grouping: self, by: key).sorted { $0.key < $1.key }.map(\.value)
    }
}

extension CircuitScope {
    fileprivate var key: String {
        [kind.rawValue, provider.rawValue, app, environment.rawValue, platform?.rawValue ?? "", topic ?? "", credential]
            .joined(separator: "\n")
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
