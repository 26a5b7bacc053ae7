package import Postgres
package import PushContract

/// Drops what ended long ago: alerts with their transitions, messages, tries, marks and withdrawn acceptances, and silences.
package enum AlertRetention {
    package static let standard = Duration.seconds(400 * 86_400)
    /// In one step, so that nothing else waits for long.
    private static let most = 500

    /// Returns how many alerts were dropped; call again while it is not zero. An alert that fires is never dropped.
    @discardableResult
    package static func drop(olderThan age: Duration = standard, now: Timestamp, on pool: PostgresPool) async throws -> Int {
        try await pool.withTransaction { transaction in
            let old: Query = """
                WITH old AS MATERIALIZED (
                    SELECT alertId FROM alerts WHERE state = 'resolved' AND resolvedAt < \(now - age)
                    ORDER BY firedAt LIMIT \(most) FOR UPDATE SKIP LOCKED
                )
                """
            let ids = try await transaction.query("\(old) SELECT alertId::text FROM old").map { try $0.decode(String.self) }
            guard !ids.isEmpty else {
                try await transaction.execute("DELETE FROM alertSilences WHERE endsAt < \(now - age)")
                return 0
            }
            // An acceptance that was not withdrawn is in force without its alert.
            try await transaction.execute(
                "DELETE FROM alertAcceptances WHERE alertId = ANY(\(ids)::uuid[]) AND (undoneAt IS NOT NULL OR effectiveFrom IS NULL)"
            )
            for table in ["alertMarks", "alertThreads", "notificationAttempts", "notifications", "alertTransitions", "alerts"] {
                try await transaction.execute("DELETE FROM \(raw: table) WHERE alertId = ANY(\(ids)::uuid[])")
            }
            return ids.count
        }
    }
}
