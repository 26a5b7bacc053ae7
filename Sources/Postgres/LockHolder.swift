/// A session that others wait for.
package struct LockHolder: Sendable, CustomStringConvertible {
    var pid: Int32
    var user: String
    var application: String
    /// The start of its transaction; nil where the server hides it.
    var since: String?

    package var description: String {
        "pid \(pid) (user \(user), application \"\(application)\", in a transaction since \(since ?? "an unknown time")): end it with "
            + "SELECT pg_terminate_backend(\(pid))"
    }

    static func text(_ holder: LockHolder?) -> String { holder?.description ?? "a session that has ended since" }

    /// Of a row of `schemaLocks`. Those that wait for it as well have locked the table, too, but are behind another transaction.
    static func ofSchemaLocks(on session: some PostgresSession) async throws -> LockHolder? {
        try await first(
            """
            locks.relation = 'schemaLocks'::regclass AND NOT EXISTS (
                SELECT FROM pg_locks waiting
                WHERE waiting.pid = locks.pid AND NOT waiting.granted AND waiting.locktype IN ('transactionid', 'tuple'))
            """,
            on: session
        )
    }

    /// The error of a lock that was not got, with the oldest transaction that has locks on tables: as a rule it is the one in the way.
    package static func named(_ error: PostgresError, on session: some PostgresSession) async -> PostgresError {
        guard error.code == .lockNotAvailable, let holder = try? await first("locks.relation >= 16384", on: session) else { return error }
        return PostgresError(error.code, "\(error.message); the oldest transaction with locks on tables is that of \(holder)")
    }

    private static func first(_ condition: Query, on session: some PostgresSession) async throws -> LockHolder? {
        try await session.query(
            """
            SELECT activity.pid, coalesce(usename::text, ''), coalesce(application_name, ''), xact_start::text
            FROM pg_locks locks JOIN pg_stat_activity activity ON activity.pid = locks.pid
            WHERE locks.locktype = 'relation' AND locks.granted AND locks.pid <> pg_backend_pid()
              AND locks.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND \(condition)
            ORDER BY xact_start LIMIT 1
            """
        ).first.map { row in
            let (pid, user, application, since) = try row.decode((Int32, String, String, String?).self)
            return LockHolder(pid: pid, user: user, application: application, since: since)
        }
    }
}
