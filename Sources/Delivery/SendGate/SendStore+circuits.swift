import Postgres
package import PushContract

extension SendStore {
    /// The holds in force, oldest first.
    package func circuits() async throws -> [Circuit] {
        try await pool.query("SELECT \(raw: CircuitQueries.columns) FROM pushCircuits WHERE closedAt IS NULL ORDER BY circuitId").map(
            Circuit.init
        )
    }

    /// The holds in force, and those that ended after `end`, with the number of deliveries that wait: counted up to 100,000, so that a
    /// million of them is no work.
    package func waitingCircuits(endedAfter end: Timestamp) async throws -> [WaitingCircuit] {
        try await pool.query(
            """
            SELECT circuitId, provider, app, environment, platform, cause, since, closedAt,
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
            "SELECT provider, app, cause, since, pausedUntil, number, clock_timestamp() FROM pushRateLimitPauses ORDER BY provider, app"
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

    /// Takes the turn of making a try for a hold: false when somebody else has it. Moves the next turn on by `interval`.
    ///
    /// - Parameter credential: the one in use here; another than the hold's has one turn at once.
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

    /// Leases one of the deliveries that wait with a hold; nil when none does.
    func claimProbe(of circuit: Circuit, lease: Duration, worker: String) async throws -> ClaimedDelivery? {
        try await pool.query(ClaimQueries.probe(circuit: circuit.id, lease: lease, worker: worker)).first.map { [cipher] row in
            var delivery = try ClaimedDelivery(row, cipher: cipher)
            delivery.probeOf = circuit.id
            return delivery
        }
    }

    /// Ends a hold; its deliveries become due (`requeueUnblocked`). False when it has ended already.
    package func closeCircuit(_ id: Int64, by name: String) async throws -> Bool {
        try await pool.execute(
            "UPDATE pushCircuits SET closedAt = clock_timestamp(), closedBy = \(name) WHERE circuitId = \(id) AND closedAt IS NULL"
        ) == 1
    }

    /// Makes up to `limit` deliveries due whose hold has ended; how many.
    func requeueUnblocked(limit: Int = 5000) async throws -> Int {
        try await pool.execute(
            """
            UPDATE pushScheduled s SET circuitId = NULL, runAt = least(s.runAt, clock_timestamp())
            FROM (
                SELECT s.deliveryId FROM pushCircuits h JOIN pushScheduled s ON s.circuitId = h.circuitId
                WHERE h.closedAt > clock_timestamp() - interval '1 day' LIMIT \(limit) FOR UPDATE OF s SKIP LOCKED
            ) freed
            WHERE s.deliveryId = freed.deliveryId
            """
        )
    }

    /// Removes pauses that mean nothing any more, and holds that ended long ago.
    func deleteClosedCircuits() async throws {
        try await pool.execute("DELETE FROM pushRateLimitPauses WHERE pausedUntil < clock_timestamp() - interval '1 hour'")
        try await pool.execute("DELETE FROM pushCircuits WHERE closedAt < clock_timestamp() - interval '45 days'")
    }
}

/// Holds and pauses inside the transaction that writes outcomes.
enum CircuitQueries {
    static let columns = """
        circuitId, provider, app, environment, platform, credential, cause, since, lastRefusedAt, refusals, probes, nextProbeAt, probedWith
        """

    /// Opens holds, or counts further refusals of those that are open. In one order, as two transactions may open the same ones.
    static func open(_ openings: [CircuitOpening], on connection: BlockingConnection) throws -> [CircuitScope: Circuit] {
        var counts: [CircuitScope: (opening: CircuitOpening, refusals: Int64)] = [:]
        for opening in openings { counts[opening.scope, default: (opening, 0)].refusals += 1 }
        let rows = counts.values.sorted { $0.opening.scope.key < $1.opening.scope.key }
        guard !rows.isEmpty else { return [:] }
        let scopes = rows.map(\.opening.scope)
        let circuits = try connection.query(
            """
            INSERT INTO pushCircuits AS h
                (provider, app, environment, platform, credential, cause, since, lastRefusedAt, refusals, nextProbeAt)
            SELECT provider::pushProvider, app, environment::pushEnvironment, platform, credential, cause, clock_timestamp(),
                clock_timestamp(), refusals, clock_timestamp() + wait * interval '1 second'
            FROM unnest(\(scopes.map(\.provider.rawValue)), \(scopes.map(\.app)), \(scopes.map(\.environment.rawValue)),
                \(scopes.map { $0.platform?.rawValue ?? "" }), \(scopes.map(\.credential)), \(rows.map(\.opening.cause)),
                \(rows.map(\.refusals)), \(rows.map(\.opening.probeAfter.inSeconds)))
                AS t(provider, app, environment, platform, credential, cause, refusals, wait)
            ON CONFLICT (provider, app, environment, platform, credential) WHERE closedAt IS NULL
            DO UPDATE SET refusals = h.refusals + excluded.refusals, lastRefusedAt = excluded.lastRefusedAt, cause = excluded.cause
            RETURNING \(raw: columns)
            """
        ).map(Circuit.init)
        return Dictionary(uniqueKeysWithValues: circuits.map { ($0.scope, $0) })
    }

    static func close(_ ids: Set<Int64>, on connection: BlockingConnection) throws {
        guard !ids.isEmpty else { return }
        try connection.execute(
            """
            UPDATE pushCircuits SET closedAt = clock_timestamp(), closedBy = 'probe'
            WHERE circuitId = ANY(\(ids.sorted())) AND closedAt IS NULL
            """
        )
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
                SELECT provider, app, cause, since, pausedUntil, number, clock_timestamp() FROM pushRateLimitPauses
                WHERE provider = \(provider.rawValue)::pushProvider AND app = \(app)
                """
            ).first.map { try RateLimitPause.read($0).pause }
            let next = group.reduce(current) { RateLimitDecision.next($1, after: $0, delays: delays, now: now) }
            guard let next, next != current else { continue }
            try connection.execute(
                """
                INSERT INTO pushRateLimitPauses (provider, app, cause, since, pausedUntil, number)
                VALUES (\(provider.rawValue), \(app), \(next.cause), \(next.since), \(next.until), \(next.number))
                ON CONFLICT (provider, app) DO UPDATE SET cause = excluded.cause, since = excluded.since,
                    pausedUntil = excluded.pausedUntil, number = excluded.number
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
        [provider.rawValue, app, environment.rawValue, platform?.rawValue ?? "", credential].joined(separator: "\n")
    }
}

extension Circuit {
    init(_ row: Row) throws {
        let values = try row.decode(
            (Int64, String, String, String, String, String, String, Timestamp, Timestamp, Int64, Int32, Timestamp, String?).self
        )
        self.init(
            id: values.0,
            scope: CircuitScope(
                provider: try stored(values.1),
                app: values.2,
                environment: try stored(values.3),
                platform: values.4.isEmpty ? nil : try stored(values.4),
                credential: values.5
            ),
            cause: values.6,
            since: values.7,
            lastRefusedAt: values.8,
            refusals: values.9,
            probes: Int(values.10),
            nextProbeAt: values.11,
            probedWith: values.12
        )
    }
}

extension RateLimitPause {
    /// With the database's time.
    static func read(_ row: Row) throws -> (pause: RateLimitPause, at: Timestamp) {
        let values = try row.decode((String, String, String, Timestamp, Timestamp, Int32, Timestamp).self)
        let pause = RateLimitPause(
            provider: try stored(values.0),
            app: values.1,
            cause: values.2,
            since: values.3,
            until: values.4,
            number: Int(values.5)
        )
        return (pause, values.6)
    }
}
