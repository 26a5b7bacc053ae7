import Postgres

/// What PostgreSQL has used, or uses meanwhile.
struct PostgresUse {
    /// Processor time; nil: not to be read, as where it runs on another machine.
    var seconds: Double?
    var walBytes: Int64

    static let none = PostgresUse(seconds: 0, walBytes: 0)

    /// Since its start.
    static func read(_ pool: PostgresPool) async throws -> PostgresUse {
        PostgresUse(
            seconds: try await ProcessUse.postgres(of: pool)?.familySeconds,
            walBytes: try await pool.query("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint")[0].decode(Int64.self)
        )
    }

    static func - (use: PostgresUse, before: PostgresUse) -> PostgresUse {
        PostgresUse(seconds: use.seconds.difference(before.seconds), walBytes: use.walBytes - before.walBytes)
    }

    static func += (total: inout PostgresUse, use: PostgresUse) {
        total.seconds = total.seconds.sum(use.seconds)
        total.walBytes += use.walBytes
    }
}

extension Double? {
    /// Nil when either is.
    func sum(_ other: Double?) -> Double? {
        guard let self, let other else { return nil }
        return self + other
    }

    /// Nil when either is.
    func difference(_ before: Double?) -> Double? { sum(before.map { -$0 }) }
}
