import Postgres
import PushContract

/// What receivers that must be told again were told last.
enum KeptMessages {
    /// The firing message of every alert that fires and was delivered; the resolved one of those whose end was delivered since
    /// `endedSince`. An end that still waits in the outbox is the courier's.
    static func current(
        receivers: [String],
        endedSince: Timestamp,
        externalURL: String,
        on session: any PostgresSession
    ) async throws -> [AlertMessage] {
        try await session.query(
            """
            SELECT o.receiver, o.seq::bigint, \(raw: OutboxStore.messageColumns), 0::bigint, o.state, 0::bigint, NULL::text, NULL::text
            FROM alertOutbox o
            JOIN alertEpisodes e USING (episodeId)
            JOIN alertTransitions t ON t.episodeId = o.episodeId AND t.seq = o.seq
            WHERE o.receiver = ANY(\(receivers)) AND o.state = 'delivered' AND o.kind = e.state
              AND (e.state = 'firing' OR o.settledAt > \(endedSince))
            ORDER BY e.startsAt, e.episodeId
            """
        ).map { try ClaimedMessage(row: $0, externalURL: externalURL).message }
    }
}
