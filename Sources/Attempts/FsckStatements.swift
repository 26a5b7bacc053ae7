import Postgres
import PushContract

/// The checks' statements. Each looks at one hour of attempts or one stretch of the ledger, so that none holds a snapshot or a table
/// lock for long, and returns at most 100 faults.
enum FsckStatements {
    /// The plan that costs what the slice costs: probes of indexes, in one process. A hash of the whole other side would be made for
    /// every slice.
    static let quietly = """
        SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off
        """

    static func countedDays(from: Timestamp, to: Timestamp) -> Query {
        """
        SELECT floor(extract(epoch FROM minute) / 86400)::bigint FROM attemptRollups
        WHERE minute >= \(from) AND minute < \(to) GROUP BY 1 HAVING sum(attempts) <> 0
        """
    }

    /// Attempts that the ledger does not know, knows elsewhere, or knows with another status.
    static func unledgered(from: Timestamp, to: Timestamp, since: Timestamp) -> Query {
        """
        SELECT fact.attemptId, fact.attemptedAt, fact.status::text, ledger.attemptedAt, ledger.status::text
        FROM notificationDeliveryAttempts AS fact LEFT JOIN attemptLedger AS ledger ON ledger.attemptKey = fact.attemptKey
        WHERE fact.attemptedAt >= \(from) AND fact.attemptedAt < \(to) AND fact.receivedAt >= \(since)
          AND (ledger.attemptKey IS NULL OR ledger.attemptedAt <> fact.attemptedAt OR ledger.status <> fact.status)
        ORDER BY fact.attemptedAt, fact.attemptKey LIMIT 100
        """
    }

    /// Attempts that stand under a key which is not that of their id.
    static func misplaced(from: Timestamp, to: Timestamp) -> Query {
        """
        SELECT attemptId, attemptedAt FROM notificationDeliveryAttempts
        WHERE attemptedAt >= \(from) AND attemptedAt < \(to)
          AND attemptKey <> encode(substring(sha256(convert_to(attemptId, 'UTF8')) FOR 16), 'hex')::uuid
        ORDER BY 2, 1 LIMIT 100
        """
    }

    /// Ids of the ledger whose attempt is not there.
    static func missing(keys: Range<Int>, factsSince: Timestamp) -> Query {
        """
        SELECT ledger.attemptKey::text, ledger.attemptedAt
        FROM attemptLedger AS ledger LEFT JOIN notificationDeliveryAttempts AS fact
            ON fact.attemptedAt = ledger.attemptedAt AND fact.attemptKey = ledger.attemptKey
        WHERE \(within(keys, "ledger.attemptKey")) AND ledger.attemptedAt >= \(factsSince) AND fact.attemptKey IS NULL
        ORDER BY 1 LIMIT 100
        """
    }

    /// Ids that both generations hold: they were new twice.
    static func ledgeredTwice(keys: Range<Int>) -> Query {
        """
        SELECT attemptKey::text FROM attemptLedger WHERE \(within(keys, "attemptKey"))
        GROUP BY attemptKey HAVING count(*) > 1 ORDER BY 1 LIMIT 100
        """
    }

    /// Rollup rows that differ from a count over the attempts, in either direction.
    static func miscounted(from: Timestamp, to: Timestamp) -> Query {
        """
        SELECT minute, provider || ' ' || platform || ' ' || eventType || ' ' || status || ' ' || reasonCode || ' ' || app || ' ' ||
                   environment || ' ' || pushType,
               (sum(counted) FILTER (WHERE isRollup))::bigint, (sum(counted) FILTER (WHERE NOT isRollup))::bigint
        FROM (
            SELECT true AS isRollup, minute, provider, platform, eventType, status, reasonCode, app, environment, pushType,
                   attempts AS counted, latencyMsSum AS latency, latencyCount AS latencies
            FROM attemptRollups WHERE minute >= \(from) AND minute < \(to)
            UNION ALL
            SELECT false, date_trunc('minute', attemptedAt), provider, platform, eventType, status, coalesce(reasonCode::text, ''),
                   coalesce(app, ''), coalesce(environment::text, ''), coalesce(pushType, ''),
                   count(*), coalesce(sum(latencyMs), 0), count(latencyMs)
            FROM notificationDeliveryAttempts WHERE attemptedAt >= \(from) AND attemptedAt < \(to)
            GROUP BY 2, 3, 4, 5, 6, 7, 8, 9, 10
        ) AS both_sides
        GROUP BY minute, provider, platform, eventType, status, reasonCode, app, environment, pushType
        HAVING sum(CASE WHEN isRollup THEN counted ELSE -counted END) <> 0
            OR sum(CASE WHEN isRollup THEN latency ELSE -latency END) <> 0
            OR sum(CASE WHEN isRollup THEN latencies ELSE -latencies END) <> 0
        ORDER BY 1, 2 LIMIT 100
        """
    }

    /// How many attempts there are, and which hold a token. The hash's prefix is what tells it from an APNs token, 64 hex digits too.
    /// Patterns are slow, so they are tried only where there is room for a token.
    static func tokens(from: Timestamp, to: Timestamp) -> Query {
        """
        SELECT count(*), coalesce((array_agg(attemptId) FILTER (WHERE
            length(tokenHash) <> 71 OR left(tokenHash, 7) <> 'sha256:' OR translate(substr(tokenHash, 8), '0123456789abcdef', '') <> ''
            OR (length(providerErrorCode) > 26 AND providerErrorCode ~ '[0-9a-fA-F]{64}|:APA91[A-Za-z0-9_-]{20}')))[1:100], '{}')
        FROM notificationDeliveryAttempts WHERE attemptedAt >= \(from) AND attemptedAt < \(to)
        """
    }

    /// Keys whose first 16 bits lie in the range; 65,536 is the end.
    private static func within(_ keys: Range<Int>, _ column: String) -> Query {
        let from = key(keys.lowerBound)
        guard keys.upperBound < 65_536 else { return "\(raw: column) >= \(from)::uuid" }
        return "\(raw: column) >= \(from)::uuid AND \(raw: column) < \(key(keys.upperBound))::uuid"
    }

    private static func key(_ prefix: Int) -> String {
        let digits = String(prefix, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits + "0000-0000-0000-0000-000000000000"
    }
}
