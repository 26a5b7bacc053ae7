import Foundation
import Postgres
import PushContract

/// The minutes in which some instance could write attempts, and the oldest uncommitted outcome of each writer.
enum HeartbeatStore {
    /// How long heartbeats are kept.
    private static let retention = Duration.seconds(30 * 86_400)
    /// How long a report counts: rules do not wait for a writer that no longer reports.
    static let freshness = Duration.seconds(90)

    /// Records that `writer` could write now, and its oldest uncommitted outcome; drops what is older than the retention.
    static func record(
        _ writer: UUID,
        at now: Timestamp,
        uncommittedSince: Timestamp? = nil,
        on session: any PostgresSession
    ) async throws {
        try await session.execute(
            """
            INSERT INTO writerHeartbeats (minute, writer, reportedAt, uncommittedSince)
            VALUES (\(now.flooredToMinute()), \(writer), \(now), \(uncommittedSince))
            ON CONFLICT (minute, writer) DO UPDATE SET reportedAt = excluded.reportedAt, uncommittedSince = excluded.uncommittedSince
            """
        )
        try await session.execute("DELETE FROM writerHeartbeats WHERE minute < \(now - retention)")
    }

    /// The newest minute of any writer; nil when none ever wrote.
    static func newest(on session: any PostgresSession) async throws -> Timestamp? {
        try await session.query("SELECT max(minute) FROM writerHeartbeats").first?.decode(Timestamp?.self)
    }

    /// The time of the oldest uncommitted outcome, by each writer's newest report; nil when there is none.
    static func oldestUncommitted(at now: Timestamp, on session: any PostgresSession) async throws -> Timestamp? {
        try await session.query(
            """
            SELECT min(uncommittedSince) FROM (
                SELECT DISTINCT ON (writer) uncommittedSince FROM writerHeartbeats
                WHERE minute > \(now - freshness - .seconds(60)) AND reportedAt > \(now - freshness)
                ORDER BY writer, minute DESC
            ) AS report
            """
        ).first?.decode(Timestamp?.self)
    }
}
