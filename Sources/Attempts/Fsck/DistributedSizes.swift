import Postgres

/// How large distributed tables are: PostgreSQL's own functions see the coordinator's, which have no rows.
enum DistributedSizes {
    /// Bytes with indexes, by partition; nil where the tables are not distributed.
    static func read(on session: some PostgresSession) async throws -> [String: Int64]? {
        guard try await DatabaseEngine.read(on: session).isDistributed else { return nil }
        let rows = try await session.query(
            """
            SELECT table_name::text, sum(shard_size)::bigint FROM citus_shards
            WHERE table_name IN (SELECT inhrelid FROM pg_inherits
                WHERE inhparent IN ('notificationDeliveryAttempts'::regclass, 'attemptLedger'::regclass))
            GROUP BY 1
            """
        )
        return try Dictionary(uniqueKeysWithValues: rows.map { try $0.decode((String, Int64).self) })
    }
}
