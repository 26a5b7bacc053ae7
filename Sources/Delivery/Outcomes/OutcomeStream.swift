import HTTPServer
package import Postgres
import PushContract
package import ServiceKit

/// The outcomes of sends in one order: who reads on from the cursor of the last one misses none and gets none twice, whatever commits in
/// which order, and whichever instance answers.
///
/// Rows of `pushOutcomes` commit in any order, so their identities are no order for readers. Committed rows are numbered by readers,
/// one at a time under a row lock; a number is visible only when all lower ones are. What a transaction writes after it has seen another's
/// outcome comes after that: `sent` after `accepted`. An idle transaction delays its own outcomes, and no others. Reads the primary: a
/// replica may show commits in another order.
package struct OutcomeStream: Sendable {
    package struct Page: Sendable {
        /// Objects as `docs/openapi.yaml` describes them, each with its cursor.
        package var outcomes: [JSONValue]
        /// Where to go on, also if none of what was read matches the filter.
        package var next: OutcomeCursor
    }

    /// A cursor of outcomes that the database does not have any more.
    package struct CursorAhead: Error, CustomStringConvertible {
        package var cursor: OutcomeCursor

        package var description: String {
            "The cursor \(cursor.text) is ahead of the outcomes: the database was restored or failed over. "
                + "Continue with new outcomes (`now`) or from the oldest one (`0-0`)."
        }
    }

    /// What to show; nil: everything.
    package struct Filter: Sendable, Hashable {
        package var sendId: String?
        /// An outcome that names no app is of none of these.
        package var apps: Set<String>?
        /// Names of API keys.
        package var authors: Set<String>?
        package var events: Set<String>?

        package init(
            sendId: String? = nil,
            apps: Set<String>? = nil,
            authors: Set<String>? = nil,
            events: Set<String>? = nil
        ) {
            self.sendId = sendId
            self.apps = apps
            self.authors = authors
            self.events = events
        }
    }

    /// Rows that are numbered in one transaction.
    static let rowLimit = 1000
    /// Outcomes that a page with a filter searches.
    private static let searchLimit = 1000

    private let pool: PostgresPool
    private let search = OutcomeSearch()

    /// - Parameter pool: of the primary.
    package init(pool: PostgresPool) { self.pool = pool }

    /// The end of the stream at this moment.
    package func end() async throws -> OutcomeCursor {
        while try await number() == Self.rowLimit {}
        let last = try await pool.query(
            "SELECT number, count FROM pushOutcomes WHERE number IS NOT NULL ORDER BY number DESC LIMIT 1"
        ).first
        guard let (number, index) = try last?.decode((Int64, Int32).self) else { return .start }
        return OutcomeCursor(number: number, index: Int64(index))
    }

    /// Up to `limit` outcomes behind the cursor. Throws `CursorAhead`.
    package func page(after cursor: OutcomeCursor, _ filter: Filter = Filter(), limit: Int) async throws -> Page {
        try await number()
        let rows = try await pool.query(Self.read(after: cursor, filter, limit: limit))
        let page = try Page(rows, after: cursor)
        // Without a row at the cursor its number decides: that row may have been removed, and how many outcomes it had is unknown.
        let end = if rows.isEmpty { OutcomeCursor(number: try await lastNumber(), index: .max) } else { page.next }
        guard cursor <= end else { throw CursorAhead(cursor: cursor) }
        return page
    }

    private func lastNumber() async throws -> Int64 {
        try await pool.query("SELECT lastNumber FROM pushOutcomeNumbers")[0].decode(Int64.self)
    }

    /// Numbers committed rows in the order of their identities; how many. None while somebody else does.
    @discardableResult
    private func number() async throws -> Int {
        let turn = search.begin()
        let (isWaiting, last, writers) = try await pool.query(Self.look(from: turn.start))[0].decode((Bool, Int64, [String]).self)
        search.note(last: last, writers: Set(writers), in: turn)
        guard isWaiting else {
            search.end(turn)
            return 0
        }
        let numbered: Int? = try await pool.performTransaction { connection in
            // Its own statement: the next one sees what the last holder of the lock has numbered. Rows that `forget` is removing are
            // locked: they get no number, as `lastNumber` would then not be that of the last row.
            let locked = try connection.query("SELECT lastNumber FROM pushOutcomeNumbers FOR UPDATE SKIP LOCKED")
            guard let lastNumber = try locked.first?.decode(Int64.self) else { return nil }
            let numbered = try connection.execute(
                """
                UPDATE pushOutcomes o SET number = \(lastNumber) + fresh.place FROM (
                    SELECT outcomeId, row_number() OVER (ORDER BY outcomeId) AS place FROM (
                        SELECT outcomeId FROM pushOutcomes WHERE number IS NULL AND outcomeId >= \(turn.start)
                        ORDER BY outcomeId LIMIT \(Self.rowLimit) FOR UPDATE SKIP LOCKED
                    ) oldest
                ) fresh WHERE o.outcomeId = fresh.outcomeId
                """
            )
            try connection.execute("UPDATE pushOutcomeNumbers SET lastNumber = \(lastNumber) + \(numbered)")
            return numbered
        }
        if let numbered, numbered < Self.rowLimit { search.end(turn) }
        return numbered ?? 0
    }

    /// Whether a row from here on is to be numbered, the last row there is, and the transactions that may commit others before it.
    static func look(from start: Int64) -> Query {
        """
        SELECT EXISTS (SELECT FROM pushOutcomes WHERE number IS NULL AND outcomeId >= \(start)),
            coalesce((SELECT max(outcomeId) FROM pushOutcomes), 0), ARRAY(
                SELECT virtualtransaction FROM pg_locks
                WHERE relation = 'pushOutcomes'::regclass AND mode = 'RowExclusiveLock'
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            )
        """
    }

    /// The outcomes that match, in order, then the end of what was searched, without an outcome. Reads as many rows as have the outcomes
    /// that are asked for, or are to be searched.
    ///
    /// A sub-select with `OFFSET` is looked up for each outcome: PostgreSQL takes an array of JSON for a hundred outcomes, and would rather
    /// read the whole tables.
    static func read(after cursor: OutcomeCursor, _ filter: Filter, limit: Int) -> Query {
        let outcomes = Int64(filter == Filter() ? limit : max(limit, searchLimit)) + min(cursor.index, Int64(SendEvents.rowLimit))
        return """
            WITH searched AS MATERIALIZED (
                SELECT * FROM (
                    SELECT *, sum(count) OVER (ORDER BY number) - count AS before FROM (
                        SELECT number, writtenAt, outcomes, count, sent, sentAttemptIds, sentMessageIds FROM pushOutcomes
                        WHERE number >= \(cursor.number) ORDER BY number LIMIT \(outcomes + 1)
                    ) next
                ) counted WHERE before < \(outcomes)
            ), matching AS (
                SELECT s.number, e.index, s.writtenAt, CASE WHEN e.isTogether THEN e.outcome || jsonb_build_object('providerMessageId',
                        \(SentMessageId.text(stored: "e.messageId"))) ELSE e.outcome END AS outcome,
                    p.sendId, p.author, d.uid, d.deviceId, d.platform, d.provider, d.environment, d.app
                FROM searched s CROSS JOIN LATERAL (
                    SELECT outcome, index, false AS isTogether, NULL AS messageId
                    FROM jsonb_array_elements(s.outcomes::jsonb) WITH ORDINALITY AS e(outcome, index)
                    UNION ALL
                    SELECT jsonb_build_object('event', 'sent', 'deliveryId', deliveryId, 'attempts', 1, 'attemptId', encode(attemptId, 'hex')),
                        index, true, messageId
                    FROM unnest(s.sent, s.sentAttemptIds, s.sentMessageIds) WITH ORDINALITY AS t(deliveryId, attemptId, messageId, index)
                ) e
                LEFT JOIN LATERAL (
                    SELECT * FROM pushDeliveries JOIN pushQueues USING (queue) WHERE deliveryId = (e.outcome->>'deliveryId')::bigint OFFSET 0
                ) d ON true
                LEFT JOIN LATERAL (SELECT * FROM pushSends WHERE sendId = coalesce(d.sendId, e.outcome->>'sendId') OFFSET 0) p ON true
                WHERE (s.number, e.index) > (\(cursor.number), \(cursor.index))
                  -- What was forgotten or erased is none. Only alerts have no send.
                  AND (p.sendId IS NOT NULL OR e.outcome ? 'alert' AND (d.deliveryId IS NOT NULL OR NOT e.outcome ? 'deliveryId'))
                  AND (\(filter.sendId)::text IS NULL OR p.sendId = \(filter.sendId)::text)
                  AND (\(filter.apps == nil) OR d.app = ANY(\(Array(filter.apps ?? []))))
                  AND (\(filter.authors == nil) OR p.author = ANY(\(Array(filter.authors ?? []))))
                  AND (\(filter.events == nil) OR e.outcome->>'event' = ANY(\(Array(filter.events ?? []))))
                ORDER BY s.number, e.index LIMIT \(limit)
            )
            SELECT number, index, jsonb_strip_nulls(outcome - 'deliveryId' || jsonb_build_object('sendId', sendId, 'author', author, 'uid', uid,
                'deviceId', deviceId, 'platform', platform, 'provider', provider, 'environment', environment, 'app', app,
                'at', to_char(writtenAt AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
            FROM matching
            UNION ALL
            SELECT * FROM (SELECT number, count::bigint, NULL::jsonb FROM searched ORDER BY number DESC LIMIT 1) last
            WHERE (SELECT count(*) FROM matching) < \(limit)
            ORDER BY 1, 2
            """
    }

    /// Removes outcomes that are as old as the sends that are removed.
    func forget(olderThan age: Duration) async throws {
        let limit = 5000
        while try await pool.execute(
            """
            DELETE FROM pushOutcomes WHERE outcomeId = ANY(ARRAY(
                SELECT outcomeId FROM (SELECT outcomeId, writtenAt FROM pushOutcomes ORDER BY outcomeId LIMIT \(limit)) oldest
                WHERE writtenAt < statement_timestamp() - \(age.inSeconds) * interval '1 second'
            ))
            """
        ) == limit {}
        try await pool.execute(
            "DELETE FROM pushOutcomeWebhookDeadLetters WHERE deadAt < statement_timestamp() - \(age.inSeconds) * interval '1 second'"
        )
    }
}

extension OutcomeStream.Page {
    // Not in `page(after:_:limit:)`: the optimiser of Swift 6.3 crashes over this loop in an asynchronous function.
    fileprivate init(_ rows: [Row], after cursor: OutcomeCursor) throws {
        self.init(outcomes: [], next: cursor)
        for row in rows {
            let (number, index, text) = try row.decode((Int64, Int64, String?).self)
            next = OutcomeCursor(number: number, index: index)
            guard let text, case .object(var outcome) = try JSONParser.parse(Array(text.utf8)) else { continue }
            outcome["cursor"] = .string(next.text)
            outcomes.append(.object(outcome))
        }
    }
}
