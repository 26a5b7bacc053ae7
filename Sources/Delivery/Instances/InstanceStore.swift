import Foundation
package import Postgres
import PushContract

/// The running instances. Their rows are those of the database heartbeat.
package struct InstanceStore: Sendable {
    /// An instance whose heartbeat is older than this does not run any more.
    package static let freshness = Duration.seconds(30)

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// `seenAt` is the instance's clock, from which its deviation is measured.
    package func report(_ instance: Instance) async throws {
        let credentials = String(decoding: try JSONEncoder().encode(instance.credentials), as: UTF8.self)
        try await pool.execute(
            """
            INSERT INTO instances AS i (instance, at, host, version, startedAt, roles, credentials, tokenKeys, clockAheadSeconds)
            VALUES (\(instance.instance)::uuid, clock_timestamp(), \(instance.host), \(instance.version), \(instance.startedAt),
                \(instance.roles), \(credentials)::jsonb, \(instance.tokenKeys),
                extract(epoch FROM \(instance.seenAt)::timestamptz - clock_timestamp()))
            ON CONFLICT (instance) DO UPDATE SET at = greatest(i.at, excluded.at), host = excluded.host, version = excluded.version,
                startedAt = excluded.startedAt, roles = excluded.roles, credentials = excluded.credentials,
                tokenKeys = excluded.tokenKeys, clockAheadSeconds = excluded.clockAheadSeconds
            """
        )
    }

    /// It does not run any more.
    package func withdraw(_ instance: String) async throws {
        try await pool.execute("UPDATE instances SET version = NULL WHERE instance = \(instance)::uuid")
    }

    /// Those that run, the oldest first.
    package func running() async throws -> [Instance] {
        try await pool.query(
            """
            SELECT instance::text, host, version, startedAt, roles, credentials::text, tokenKeys, clockAheadSeconds, at FROM instances
            WHERE at > clock_timestamp() - \(Self.freshness.inSeconds) * interval '1 second' AND version IS NOT NULL
            ORDER BY startedAt, instance
            """
        ).map { row in
            let (instance, host, version, startedAt, roles, credentials, tokenKeys, ahead, seenAt) = try row.decode(
                (String, String, String, Timestamp, [String], String, [String], Double, Timestamp).self
            )
            return Instance(
                instance: instance,
                host: host,
                version: version,
                startedAt: startedAt,
                roles: roles,
                credentials: try JSONDecoder().decode([Instance.Credential].self, from: Data(credentials.utf8)),
                tokenKeys: tokenKeys,
                clockAheadSeconds: ahead,
                seenAt: seenAt
            )
        }
    }
}
