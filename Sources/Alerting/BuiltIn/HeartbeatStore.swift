package import Foundation
package import Postgres
package import PushContract

/// The minutes in which somebody was there to write attempts.
package enum HeartbeatStore {
    /// How long heartbeats are kept.
    private static let retention = Duration.seconds(30 * 86_400)

    /// Notes that `writer` could write now, and drops what is older than the retention. Idempotent within a minute.
    package static func beat(_ writer: UUID, at now: Timestamp, on session: any PostgresSession) async throws {
        try await session.execute(
            "INSERT INTO writerHeartbeats (minute, writer) VALUES (\(now.flooredToMinute()), \(writer)) ON CONFLICT DO NOTHING"
        )
        try await session.execute("DELETE FROM writerHeartbeats WHERE minute < \(now - retention)")
    }

    /// The newest minute of any writer; nil when none ever wrote.
    package static func newest(on session: any PostgresSession) async throws -> Timestamp? {
        try await session.query("SELECT max(minute) FROM writerHeartbeats").first?.decode(Timestamp?.self)
    }
}
