package import Postgres
package import PushContract

/// Checks the invariants of sending on a live system. What looks wrong is looked at again after a pause and counts only if it still does.
package struct SendFsck: Sendable {
    /// What one check found.
    package struct Line: Sendable, Encodable {
        package var check: String
        package var promise: String
        /// How much was looked at, in words.
        package var examined: String
        package var faultCount: Int
        /// The first of them.
        package var faults: [String]
    }

    private let pool: PostgresPool
    private let days: Int
    private let pause: Duration

    /// - Parameter days: how far back ended deliveries are compared with their attempts.
    package init(pool: PostgresPool, days: Int = 16, pause: Duration = .seconds(1)) {
        self.pool = pool
        self.days = days
        self.pause = pause
    }

    package func run() async throws -> [Line] {
        let deliveries = try await count("SELECT count(*) FROM pushDeliveries")
        let ended = "deliveries that ended within \(days) days"
        return [
            try await line("places", "every delivery is in exactly one place", "\(deliveries) deliveries", SendFsckStatements.places),
            try await line("tries", "an ended delivery has a row for each try", ended, SendFsckStatements.tries(days: days)),
            try await line("once", "no delivery is recorded as sent twice", ended, SendFsckStatements.sentTwice(days: days)),
            try await line("leases", "no lease is long overdue", "the leases", SendFsckStatements.overdueLeases),
            try await line("holds", "nothing waits for a hold that has ended", "what is held", SendFsckStatements.strandedHolds),
        ]
    }

    /// How often a push may have been sent twice: tries whose outcome is unknown and that were followed by another. Not a fault:
    /// at_least_once promises no less.
    package func possibleDuplicates() async throws -> Int { try await count(SendFsckStatements.possibleDuplicates(days: days)) }

    private func line(_ check: String, _ promise: String, _ examined: String, _ statement: Query) async throws -> Line {
        var faults = try await look(statement)
        if !faults.isEmpty {
            try await Task.sleep(for: pause)
            let again = Set(try await look(statement))
            faults = faults.filter(again.contains)
        }
        return Line(check: check, promise: promise, examined: examined, faultCount: faults.count, faults: Array(faults.prefix(20)))
    }

    private func look(_ statement: Query) async throws -> [String] {
        try await pool.withConnection { connection in
            try await connection.perform { connection in
                try connection.transaction { connection in
                    // One snapshot of all tables; a whole queue may take a while.
                    try connection.execute("SET LOCAL statement_timeout = '10min'")
                    return try connection.query(statement).map { try $0.decode(String.self) }
                }
            }
        }
    }

    private func count(_ query: Query) async throws -> Int { try await pool.query(query)[0].decode(Int.self) }
}

/// The checks' statements; each returns a line of text for each fault, 100 at most.
enum SendFsckStatements {
    static let places: Query = """
        SELECT CASE WHEN sendId IS NULL THEN 'delivery ' || deliveryId || ' is in ' || places || ', and is not there'
                    WHEN places = '' THEN 'delivery ' || deliveryId || ' of ' || sendId || ' is in no place'
                    ELSE 'delivery ' || deliveryId || ' of ' || sendId || ' is in ' || places END
        FROM (
            SELECT deliveryId, max(d.sendId) AS sendId, count(p.place) AS number, coalesce(string_agg(p.place, ' and '), '') AS places
            FROM pushDeliveries d FULL JOIN (
                SELECT deliveryId, 'pushReady' AS place FROM pushReady UNION ALL SELECT deliveryId, 'pushScheduled' FROM pushScheduled
                UNION ALL SELECT deliveryId, 'pushLeases' FROM pushLeases UNION ALL SELECT deliveryId, 'pushFinished' FROM pushFinished
                UNION ALL SELECT deliveryId, 'pushDead' FROM pushDead
            ) p USING (deliveryId)
            GROUP BY deliveryId
            HAVING count(p.place) <> 1 OR max(d.sendId) IS NULL
        ) x ORDER BY deliveryId LIMIT 100
        """

    /// By send and uid: attempts do not name their delivery. Groups with a delivery under way are left out.
    static func tries(days: Int) -> Query {
        """
        WITH ended AS (
            SELECT d.sendId, d.uid, sum(e.attempts)::bigint AS tries, min(d.createdAt) AS since, count(*) AS number
            FROM (
                SELECT deliveryId, attempts FROM pushFinished WHERE \(recent(days))
                UNION ALL SELECT deliveryId, attempts FROM pushDead WHERE \(recent(days))
            ) e JOIN pushDeliveries d USING (deliveryId) GROUP BY 1, 2
        )
        SELECT 'send ' || e.sendId || ', uid ' || e.uid || ': ' || e.tries || ' tries and ' || a.number || ' rows'
        FROM ended e CROSS JOIN LATERAL (
            SELECT count(*) AS number FROM notificationDeliveryAttempts a
            WHERE a.uid = e.uid AND a.sendId = e.sendId AND a.eventType = 'send' AND a.attemptedAt >= e.since - interval '5 minutes'
        ) a
        WHERE a.number <> e.tries
          AND e.number = (SELECT count(*) FROM pushDeliveries d WHERE d.sendId = e.sendId AND d.uid = e.uid)
        ORDER BY 1 LIMIT 100
        """
    }

    static func sentTwice(days: Int) -> Query {
        """
        SELECT 'send ' || a.sendId || ', uid ' || a.uid || ', ' || a.tokenHash || ': ' || count(*) || ' rows that say sent'
        FROM notificationDeliveryAttempts a
        WHERE a.attemptedAt > clock_timestamp() - \(days) * interval '1 day' AND a.eventType = 'send' AND a.status = 'sent'
          AND a.sendId IN (SELECT sendId FROM pushSends)
        GROUP BY a.sendId, a.uid, a.tokenHash
        HAVING count(*) > (SELECT count(*) FROM pushDeliveries d WHERE d.sendId = a.sendId AND d.uid = a.uid)
        ORDER BY 1 LIMIT 100
        """
    }

    static let overdueLeases: Query = """
        SELECT 'delivery ' || deliveryId || ' is leased by ' || worker || ' since ' || claimedAt FROM pushLeases
        WHERE leaseUntil < clock_timestamp() - interval '5 minutes' ORDER BY leaseUntil LIMIT 100
        """

    static let strandedHolds: Query = """
        SELECT 'delivery ' || s.deliveryId || ' waits for hold ' || s.holdId FROM pushScheduled s LEFT JOIN pushHolds h USING (holdId)
        WHERE s.holdId IS NOT NULL AND (h.holdId IS NULL OR h.releasedAt < clock_timestamp() - interval '5 minutes')
        ORDER BY s.deliveryId LIMIT 100
        """

    static func possibleDuplicates(days: Int) -> Query {
        """
        SELECT count(*) FROM notificationDeliveryAttempts a JOIN pushSends s USING (sendId)
        WHERE a.attemptedAt > clock_timestamp() - \(days) * interval '1 day' AND a.eventType = 'send' AND a.status = 'failed'
          AND a.providerErrorCode = 'OutcomeUnknown' AND s.policy = 'at_least_once'
        """
    }

    private static func recent(_ days: Int) -> Query { "finishedAt > clock_timestamp() - \(days) * interval '1 day'" }
}
