import Delivery
package import Postgres
import PushContract

/// Who sends for which subject, and what there is to send. Safe to use from any task.
package struct SubjectStore: Sendable {
    /// How long rows stay after their match ended.
    package static let retention = Duration.seconds(48 * 3600)

    private static let columns = RowLease(owner: "owner", until: "leaseUntil", epoch: "epoch")

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Leases subjects that are free or whose lease expired, and renews those leased; all that are leased then.
    ///
    /// The epoch rises with each change of the owner; each write for a subject names it.
    package func claim(owner: String, lease: Duration) async throws -> [LiveSubject] {
        let matches = try await pool.query(
            """
            UPDATE activeMatches SET \(SubjectStore.columns.assign(to: owner, for: lease)) WHERE matchId IN (
                SELECT matchId FROM activeMatches WHERE \(SubjectStore.free(owner)) ORDER BY matchId FOR UPDATE SKIP LOCKED)
            RETURNING \(raw: LiveSubject.matchColumns)
            """
        ).map(LiveSubject.init(match:))
        let others = try await pool.query(
            """
            UPDATE activitySubjects SET \(SubjectStore.columns.assign(to: owner, for: lease)) WHERE subject IN (
                SELECT subject FROM activitySubjects WHERE \(SubjectStore.free(owner)) ORDER BY subject FOR UPDATE SKIP LOCKED)
            RETURNING \(raw: LiveSubject.customColumns)
            """
        ).map(LiveSubject.init(custom:))
        return matches + others
    }

    /// Whether there is a subject that nobody holds.
    func isAnyUnleased() async throws -> Bool {
        let free: Query = "\(SubjectStore.columns.isFree) AND coalesce(expiresAt, 'infinity') > clock_timestamp()"
        return try await pool.query(
            "SELECT EXISTS (SELECT FROM activeMatches WHERE \(free)) OR EXISTS (SELECT FROM activitySubjects WHERE \(free))"
        )[0].decode(Bool.self)
    }

    /// Those of the leased subjects whose state is another than the one known.
    package func changed(owner: String, known: [String: Int64]) async throws -> [LiveSubject] {
        let ids = Array(known.keys)
        let stamps = ids.map { known[$0] ?? 0 }
        let matches = try await pool.query(
            """
            SELECT \(raw: LiveSubject.matchColumns) FROM activeMatches
            WHERE owner = \(owner) AND leaseUntil > clock_timestamp()
              AND (matchId, stateTimestamp) NOT IN (SELECT * FROM unnest(\(ids), \(stamps)))
            """
        ).map(LiveSubject.init(match:))
        let others = try await pool.query(
            """
            SELECT \(raw: LiveSubject.customColumns) FROM activitySubjects
            WHERE owner = \(owner) AND leaseUntil > clock_timestamp()
              AND (subject, stateTimestamp) NOT IN (SELECT * FROM unnest(\(ids), \(stamps)))
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
        for table in ["activeMatches", "activitySubjects"] {
            try await pool.execute("UPDATE \(raw: table) SET leaseUntil = NULL WHERE owner = \(owner)")
        }
    }

    /// Gives live subjects that have not changed for half of the time that a state is fresh a new timestamp, and nothing else: no event is
    /// reported twice. One with a source only if that has confirmed the state since it was dated.
    func sendHeartbeats(owner: String, now: Timestamp) async throws {
        let usual = LivePayloads.staleAfter.components.seconds
        for (table, isLive, quiet): (String, Query, Query) in [
            ("activeMatches", "phase IN ('live', 'break', 'interrupted')", "keyEvent = NULL, keyEventPriority = NULL"),
            ("activitySubjects", "endedAt IS NULL", "critical = false"),
        ] {
            try await pool.execute(
                """
                UPDATE \(raw: table) SET stateTimestamp = greatest(\(now.seconds), stateTimestamp + 1), stateBuiltAt = \(now), \(quiet)
                WHERE owner = \(owner) AND \(isLive) AND stateTimestamp <= \(now.seconds) - coalesce(freshFor, \(usual)::bigint) / 2
                    AND (freshFor IS NULL OR confirmedAt >= to_timestamp(greatest(stateTimestamp + 1, \(now.seconds) - freshFor)))
                """
            )
        }
    }

    private static func free(_ owner: String) -> Query {
        "\(columns.isAvailable(to: owner)) AND coalesce(expiresAt, 'infinity') > clock_timestamp()"
    }
}
