import Postgres
import PushContract

/// Circuits and pauses inside the transaction that writes outcomes.
enum CircuitQueries {
    /// What closes a circuit whose probe is accepted.
    static let probe = "probe"
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

    /// Closes circuits. Each `SendDispatcher` makes ready what they blocked, and one of them the retries of an outage.
    static func close(_ ids: Set<Int64>, by name: String = probe, on connection: BlockingConnection) throws {
        guard !ids.isEmpty else { return }
        try connection.execute(
            """
            UPDATE pushCircuits SET closedAt = clock_timestamp(), closedBy = \(name)
            WHERE circuitId = ANY(\(ids.sorted())) AND closedAt IS NULL
            """
        )
    }

    /// Gives back the turns of probes that ended without an attempt, or were not begun: they have proved nothing, and the next one may go
    /// at once.
    static func returnProbes(_ ids: Set<Int64>, on connection: BlockingConnection) throws {
        guard !ids.isEmpty else { return }
        try connection.execute(
            """
            UPDATE pushCircuits SET probes = probes - 1, nextProbeAt = clock_timestamp()
            WHERE circuitId = ANY(\(ids.sorted())) AND closedAt IS NULL
            """
        )
    }

    /// Pauses queues, or makes their pauses longer.
    static func pause(_ requests: [RateLimitRequest], delays: RetryDelays, on connection: BlockingConnection) throws -> [RateLimitPause] {
        guard !requests.isEmpty else { return [] }
        let ordered = requests.sorted { ($0.provider.rawValue, $0.app) < ($1.provider.rawValue, $1.app) }
        // All at once, in the order of the rows: two transactions may want the same ones.
        _ = try connection.query(KeyLock.take(.pause, ordered.map { "\($0.provider.rawValue):\($0.app)" }))
        var pauses: [RateLimitPause] = []
        for group in ordered.grouped(by: { ExactText("\($0.provider.rawValue) \($0.app)") }) {
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
    fileprivate func grouped(by key: (Element) -> ExactText) -> [[Element]] {
        Dictionary(grouping: self, by: key).sorted { $0.key < $1.key }.map(\.value)
    }
}

extension CircuitScope {
    fileprivate var key: String {
        [kind.rawValue, provider.rawValue, app, environment.rawValue, platform?.rawValue ?? "", topic ?? "", credential]
            .joined(separator: "\n")
    }
}
