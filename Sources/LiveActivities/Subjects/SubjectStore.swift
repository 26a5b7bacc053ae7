import Delivery
package import Postgres
import PushContract

/// Who sends for which subject, and what there is to send. Safe to use from any task.
package struct SubjectStore: Sendable {
    /// How long rows stay after their match ended.
    package static let retention = Duration.seconds(48 * 3600)

    private static let columns = RowLease(owner: "owner", until: "leaseUntil", epoch: "epoch")
    private static let tables = [("activeMatches", "matchId"), ("activitySubjects", "subject")]

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Which subjects are leased, each with its epoch, and how long at least.
    struct Leases: Sendable {
        var epochs: [String: Int64] = [:]
        var left: Duration?
    }

    /// Renews leases that have not run out; what is leased then. What somebody is writing to is renewed the next time, while there is time.
    func renew(owner: String, lease: Duration) async throws -> Leases {
        var leases = Leases()
        for (table, id) in SubjectStore.tables {
            let isLeased: Query = "owner = \(owner) AND releasedAt IS NULL AND leaseUntil > clock_timestamp()"
            try await pool.execute(
                """
                UPDATE \(raw: table) SET leaseUntil = \(RowLease.end(of: lease)) WHERE \(raw: id) IN (
                    SELECT \(raw: id) FROM \(raw: table) WHERE \(isLeased) ORDER BY \(raw: id) FOR UPDATE SKIP LOCKED)
                """
            )
            let rows = try await pool.query(
                """
                SELECT \(raw: id), epoch, extract(epoch FROM leaseUntil - clock_timestamp())::double precision FROM \(raw: table)
                WHERE \(isLeased) AND leaseUntil > \(RowLease.end(of: lease / 3))
                """
            ).map { try $0.decode((String, Int64, Double).self) }
            for (subject, epoch, left) in rows {
                leases.epochs[subject] = epoch
                leases.left = min(leases.left ?? lease, .seconds(left))
            }
        }
        return leases
    }

    /// Leases up to `limit` subjects of a kind that nobody has leased, first those that are not over; how many. What ended and has no
    /// activity left is not leased any more.
    ///
    /// The epoch rises with each change of the owner; each write for a subject names it.
    func claim(owner: String, lease: Duration, limit: Int) async throws -> Int {
        var claimed = 0
        for (table, id) in SubjectStore.tables {
            claimed += try await pool.execute(
                """
                UPDATE \(raw: table) SET \(SubjectStore.columns.assign(to: owner, for: lease)) WHERE \(raw: id) IN (
                    SELECT \(raw: id) FROM \(raw: table) WHERE \(SubjectStore.columns.isFree) AND releasedAt IS NULL
                    ORDER BY endedAt NULLS FIRST, \(raw: id) LIMIT \(limit) FOR UPDATE SKIP LOCKED)
                """
            )
        }
        return claimed
    }

    /// Whether there is a subject that nobody holds.
    func isAnyUnleased() async throws -> Bool {
        let free: Query = "\(SubjectStore.columns.isFree) AND releasedAt IS NULL"
        return try await pool.query(
            "SELECT EXISTS (SELECT FROM activeMatches WHERE \(free)) OR EXISTS (SELECT FROM activitySubjects WHERE \(free))"
        )[0].decode(Bool.self)
    }

    /// Those of the leased subjects whose state is another than the one known.
    package func changed(owner: String, known: [String: Int64]) async throws -> [LiveSubject] {
        let ids = Array(known.keys)
        let stamps = ids.map { known[$0] ?? 0 }
        let isLeased: Query = "owner = \(owner) AND releasedAt IS NULL AND leaseUntil > clock_timestamp()"
        let matches = try await pool.query(
            """
            SELECT \(raw: LiveSubject.matchColumns) FROM activeMatches
            WHERE \(isLeased) AND (matchId, stateTimestamp) NOT IN (SELECT * FROM unnest(\(ids), \(stamps)))
            """
        ).map(LiveSubject.init(match:))
        let others = try await pool.query(
            """
            SELECT \(raw: LiveSubject.customColumns) FROM activitySubjects
            WHERE \(isLeased) AND (subject, stateTimestamp) NOT IN (SELECT * FROM unnest(\(ids), \(stamps)))
            """
        ).map(LiveSubject.init(custom:))
        return matches + others
    }

    /// Any subjects by their ids, also those that are over.
    package func named(_ ids: [String]) async throws -> [String: LiveSubject] {
        let ids = Set(ids)
        let matchIds = ids.filter { !$0.contains("/") }
        let others = ids.subtracting(matchIds)
        var subjects: [LiveSubject] = []
        if !matchIds.isEmpty {
            subjects += try await pool.query(
                "SELECT \(raw: LiveSubject.matchColumns) FROM activeMatches WHERE matchId = ANY(\(Array(matchIds)))"
            ).map(LiveSubject.init(match:))
        }
        if !others.isEmpty {
            subjects += try await pool.query(
                "SELECT \(raw: LiveSubject.customColumns) FROM activitySubjects WHERE subject = ANY(\(Array(others)))"
            ).map(LiveSubject.init(custom:))
        }
        return Dictionary(uniqueKeysWithValues: subjects.map { ($0.id, $0) })
    }

    /// Alerts of a subject, the newest last.
    ///
    /// - Parameters:
    ///   - known: not those of this state and of earlier ones.
    ///   - timestamp: of the state that was read: an alert of a newer one goes with that.
    func alerts(of subject: String, after known: Int64, through timestamp: Int64, now: Timestamp) async throws -> [SubjectAlert] {
        try await pool.query(
            """
            SELECT \(raw: AlertQueries.columns) FROM activityAlerts
            WHERE matchId = \(subject) AND stateTimestamp > \(known) AND stateTimestamp <= \(timestamp)
              AND builtAt > \(now - SubjectAlert.retention)
            ORDER BY stateTimestamp
            """
        ).map(AlertQueries.read)
    }

    /// The same of several, as far as their states were read.
    func alerts(of subjects: some Collection<LiveSubject>, now: Timestamp) async throws -> [String: [SubjectAlert]] {
        var alerts: [String: [SubjectAlert]] = [:]
        for subject in subjects {
            alerts[subject.id] = try await self.alerts(of: subject.id, after: 0, through: subject.timestamp, now: now)
        }
        return alerts
    }

    /// Releases all leases; at shutdown.
    package func release(owner: String) async throws {
        for (table, _) in SubjectStore.tables {
            try await pool.execute("UPDATE \(raw: table) SET leaseUntil = NULL WHERE owner = \(owner)")
        }
    }

    /// Gives live subjects that have not changed for half of the time that a state is fresh a new timestamp, and nothing else: no event is
    /// reported twice. One with a source only if that has confirmed the state since it was dated.
    func sendHeartbeats(owner: String, now: Timestamp) async throws {
        let usual = LivePayloads.staleAfter.components.seconds
        let timestamp: Query = "greatest(\(now.seconds), stateTimestamp + 1)"
        // An app reads the date of a match's state from the state alone. Within a string its quotes would be escaped.
        let state: Query = #"regexp_replace(displayState, '"updatedAt":[0-9]+', '"updatedAt":' || \#(timestamp))"#
        for (table, isLive, changes): (String, Query, Query) in [
            (
                "activeMatches", "phase IN ('live', 'break', 'interrupted')",
                "displayState = \(state), keyEvent = NULL, keyEventPriority = NULL"
            ),
            ("activitySubjects", "endedAt IS NULL", "critical = false"),
        ] {
            try await pool.execute(
                """
                UPDATE \(raw: table) SET stateTimestamp = \(timestamp), stateBuiltAt = \(now), \(changes)
                WHERE owner = \(owner) AND \(isLive) AND stateTimestamp <= \(now.seconds) - coalesce(freshFor, \(usual)::bigint) / 2
                    AND (freshFor IS NULL OR confirmedAt >= to_timestamp(greatest(stateTimestamp + 1, \(now.seconds) - freshFor)))
                """
            )
        }
    }
}
