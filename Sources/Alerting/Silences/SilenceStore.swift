import Foundation
package import Postgres
package import PushContract

/// The table of silences.
package enum SilenceStore {
    /// Adds a silence. One that begins now is in force at once, also where the clock of the machine that adds it is ahead.
    static func insert(_ silence: AlertSilence, in transaction: PostgresTransaction) async throws {
        let start: Query =
            silence.startsAt > silence.createdAt ? "\(silence.startsAt)" : "least(\(silence.startsAt), clock_timestamp())"
        try await transaction.execute(
            """
            INSERT INTO alertSilences (silenceId, matchers, startsAt, endsAt, author, reason, createdAt)
            VALUES (\(silence.id), \(try AlertJSON.text(silence.matchers)), \(start), \(silence.endsAt),
                    \(silence.author), \(silence.reason), \(silence.createdAt))
            """
        )
    }

    /// Whether the same silence, for as long, was added by the same person less than a minute ago and is active. Locks the table
    /// until the transaction ends: a double click sends both forms at once.
    static func isRepeated(_ silence: AlertSilence, in transaction: PostgresTransaction) async throws -> Bool {
        try await transaction.execute("LOCK TABLE alertSilences IN SHARE ROW EXCLUSIVE MODE")
        let same = try await transaction.query(
            """
            SELECT silenceId FROM alertSilences
            WHERE matchers = \(try AlertJSON.text(silence.matchers))::jsonb AND author = \(silence.author) AND reason = \(silence.reason)
                AND endsAt - createdAt = \(silence.endsAt)::timestamptz - \(silence.createdAt)::timestamptz
                AND endsAt > \(silence.createdAt)
                AND createdAt > \(silence.createdAt - .seconds(60))
            """
        )
        return !same.isEmpty
    }

    /// Those that have not ended, the next to end first.
    package static func current(at now: Timestamp, on session: any PostgresSession) async throws -> [AlertSilence] {
        try await session.query(
            """
            SELECT silenceId, matchers, startsAt, endsAt, author, reason, createdAt
            FROM alertSilences WHERE endsAt > \(now) ORDER BY endsAt, silenceId
            """
        ).map(AlertSilence.init(row:))
    }

    /// Those that have not ended and whose id begins with `prefix`; at most two, which is enough to know that there is more than one.
    package static func find(prefix: String, at now: Timestamp, on session: any PostgresSession) async throws -> [AlertSilence] {
        guard !prefix.isEmpty else { return [] }
        return try await session.query(
            """
            SELECT silenceId, matchers, startsAt, endsAt, author, reason, createdAt FROM alertSilences
            WHERE endsAt > \(now) AND starts_with(silenceId::text, \(prefix.lowercased())) LIMIT 2
            """
        ).map(AlertSilence.init(row:))
    }

    /// Ends it now; the alerts that it muted are notified with the next evaluation. Returns the silence as it was; nil when there is none,
    /// or it has ended.
    static func end(_ id: UUID, at now: Timestamp, in transaction: PostgresTransaction) async throws -> AlertSilence? {
        let silence = try await transaction.query(
            """
            SELECT silenceId, matchers, startsAt, endsAt, author, reason, createdAt
            FROM alertSilences WHERE silenceId = \(id) AND endsAt > \(now) FOR UPDATE
            """
        ).first.map(AlertSilence.init(row:))
        guard let silence else { return nil }
        try await transaction.execute(
            "UPDATE alertSilences SET endsAt = greatest(startsAt, least(\(now), clock_timestamp())) WHERE silenceId = \(id)"
        )
        return silence
    }
}

extension AlertSilence {
    fileprivate init(row: Row) throws {
        let (id, matchers, startsAt, endsAt, author, reason, createdAt) = try row.decode(
            (UUID, String, Timestamp, Timestamp, String, String, Timestamp).self
        )
        self.init(
            id: id,
            matchers: try AlertJSON.value(from: matchers),
            startsAt: startsAt,
            endsAt: endsAt,
            author: author,
            reason: reason,
            createdAt: createdAt
        )
    }
}
