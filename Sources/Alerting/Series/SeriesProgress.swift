import AlertRules
import Postgres
import PushContract

/// How far a series has been filled.
enum SeriesProgress {
    static func read(_ series: String, on session: any PostgresSession) async throws -> Minute? {
        try await session.query("SELECT asOf FROM alertSeriesProgress WHERE series = \(series)").first
            .map { Minute(try $0.decode(Timestamp.self)) }
    }

    static func write(_ series: String, asOf: Minute, in transaction: any PostgresSession) async throws {
        try await transaction.execute(
            """
            INSERT INTO alertSeriesProgress (series, asOf) VALUES (\(series), \(asOf.timestamp))
            ON CONFLICT (series) DO UPDATE SET asOf = excluded.asOf
            """
        )
    }
}
