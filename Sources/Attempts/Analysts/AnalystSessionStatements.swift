import Postgres

/// Looks at and ends sessions of analysts: of `pushwatch_analyst` and of every login that has been given it.
enum AnalystSessionStatements {
    struct Listing {
        var sessions: [AnalystSession]
        /// Sessions that cannot be read: `pg_read_all_stats` is missing.
        var hidden: Int
    }

    /// Superusers have every role's rights, so membership says nothing of them; they, the owner of the tables and the role that queries are
    /// no analysts. Who must SET ROLE is one; from PostgreSQL 16 on MEMBER includes the creator of the role, who may not. Only this
    /// database: another one on the server has a watchdog of its own. backend_type is among what may be hidden.
    static func list(on session: some PostgresSession) async throws -> Listing {
        let rows = try await session.query(
            """
            WITH blockers AS (
                SELECT unnest(pg_blocking_pids(pid)) AS pid, waitstart FROM pg_locks WHERE NOT granted AND waitstart IS NOT NULL
            )
            SELECT pid, backend_start::text, usename::text, state,
                   \(raw: microseconds("query_start")), \(raw: microseconds("xact_start")),
                   greatest(age(backend_xmin), age(backend_xid), 0)::bigint,
                   (SELECT \(raw: microseconds("min(waitstart)")) FROM blockers WHERE blockers.pid = analyst.pid)
            FROM pg_stat_activity AS analyst
            WHERE coalesce(backend_type, 'client backend') = 'client backend' AND datname = current_database() AND usesysid IN (
                SELECT login.oid FROM pg_roles AS login JOIN pg_roles AS analysts ON analysts.rolname = 'pushwatch_analyst'
                WHERE pg_has_role(login.oid, analysts.oid, CASE WHEN current_setting('server_version_num')::integer >= 160000
                          THEN 'USAGE, SET' ELSE 'MEMBER' END)
                  AND NOT login.rolsuper AND login.rolname <> current_user
                  AND login.oid <> (SELECT relowner FROM pg_class WHERE oid = 'notificationDeliveryAttempts'::regclass))
            """
        )
        var listing = Listing(sessions: [], hidden: 0)
        for row in rows {
            if let session = try decode(row) { listing.sessions.append(session) } else { listing.hidden += 1 }
        }
        return listing
    }

    /// False when the session was gone already. The session is named by its start as well: pids are used again.
    static func cancel(_ analyst: AnalystSession, on session: some PostgresSession) async throws -> Bool {
        try await signal("pg_cancel_backend", analyst, session)
    }

    static func terminate(_ analyst: AnalystSession, on session: some PostgresSession) async throws -> Bool {
        try await signal("pg_terminate_backend", analyst, session)
    }

    private static func signal(_ function: String, _ analyst: AnalystSession, _ session: some PostgresSession) async throws -> Bool {
        let rows = try await session.query(
            """
            SELECT \(raw: function)(pid) FROM pg_stat_activity
            WHERE pid = \(analyst.pid) AND backend_start::text = \(analyst.startedAt)
            """
        )
        return try rows.first?.decode(Bool.self) ?? false
    }

    private static func microseconds(_ moment: String) -> String {
        "(extract(epoch FROM clock_timestamp() - \(moment)) * 1000000)::bigint"
    }

    /// nil when the server hides what the session does.
    private static func decode(_ row: Row) throws -> AnalystSession? {
        let (pid, startedAt, user, state, statement, transaction, suppressedBy, blocking) = try row.decode(
            (Int32, String?, String, String?, Int64?, Int64?, Int64, Int64?).self
        )
        guard let startedAt, let state else { return nil }
        return AnalystSession(
            pid: pid,
            startedAt: startedAt,
            user: user,
            activity: activity(state),
            statementAge: .microseconds(statement ?? 0),
            transactionAge: .microseconds(transaction ?? 0),
            xminAge: suppressedBy,
            blockingFor: .microseconds(blocking ?? 0)
        )
    }

    private static func activity(_ state: String) -> AnalystSession.Activity {
        switch state {
        case "idle": .idle
        case "idle in transaction", "idle in transaction (aborted)": .idleInTransaction
        default: .active
        }
    }
}
