import Postgres
import PushContract

/// Flights: of the deliveries with one `collapseId`, only one at a time is with the provider for each token, whatever device it was sent
/// to.
extension NewestQueries {
    /// How long an attempt may be in flight before a newer delivery stops waiting for it. Longer than `startLimit` and a request.
    static let flightLimit = Duration.seconds(30)
    /// A claimed delivery that has not left after this time goes back to the queue: a newer one could be sent before it.
    static let startLimit = Duration.seconds(8)
    /// After which a delivery is claimed again whose key another transaction has locked.
    static let lockPause = Duration.seconds(1)

    typealias Claimed = (deliveryId: Int64, keys: NewestKeys, expiresAt: Timestamp)

    /// Which of these claimed deliveries may be attempted; those are in flight now.
    static func begin(_ claimed: [Claimed]) -> Query {
        """
        WITH claimed AS (
            SELECT tokenKey, c.deliveryId, n.version, n.versionsSince, c.expiresAt
            FROM unnest(\(claimed.map(\.deliveryId)), \(claimed.map(\.keys.own)), \(claimed.map(\.keys.token)), \(claimed.map(\.expiresAt)))
                AS c(deliveryId, ownKey, tokenKey, expiresAt)
            JOIN pushNewest n ON n.collapseKey = c.ownKey AND n.deliveryId = c.deliveryId
        ), \(open("claimed"))
        \(begin)
        """
    }

    /// Of the deliveries `open`, the newest to each token: those that are in flight now, null for each other one. That one waits, and is
    /// the newest for which `finish` looks.
    static let begin: Query = """
        INSERT INTO pushNewest AS n (collapseKey, deliveryId, version, versionsSince, inFlight, inFlightUntil, expiresAt)
        SELECT tokenKey, deliveryId, version, versionsSince, deliveryId, clock_timestamp() + \(flightLimit.inSeconds) * interval '1 second',
            expiresAt
        FROM open ORDER BY tokenKey
        ON CONFLICT (collapseKey) DO UPDATE SET deliveryId = excluded.deliveryId, version = excluded.version,
            versionsSince = greatest(excluded.versionsSince, CASE WHEN n.version IS NULL THEN n.deliveryId ELSE n.versionsSince END),
            expiresAt = greatest(n.expiresAt, excluded.expiresAt),
            (inFlight, inFlightUntil) = (
                SELECT CASE WHEN isFree THEN excluded.inFlight ELSE n.inFlight END,
                    CASE WHEN isFree THEN excluded.inFlightUntil ELSE n.inFlightUntil END
                FROM (SELECT n.inFlight IS NULL OR n.inFlight = excluded.inFlight OR n.inFlightUntil <= clock_timestamp() AS isFree) f
            )
        WHERE \(replaces("excluded", "n"))
        RETURNING CASE WHEN inFlight = deliveryId THEN deliveryId END AS deliveryId
        """

    /// Why the others may not: whether there is a newer one (or was: its row is forgotten a week after the last has expired), else until
    /// when to wait: for the flight, or for a key that is locked.
    static func refusals(_ claimed: [Claimed]) -> Query {
        """
        SELECT c.deliveryId, own.deliveryId IS DISTINCT FROM c.deliveryId, (\(replaces("own", "token"))) IS FALSE,
            coalesce(token.inFlightUntil, clock_timestamp() + \(lockPause.inSeconds) * interval '1 second')
        FROM unnest(\(claimed.map(\.deliveryId)), \(claimed.map(\.keys.own)), \(claimed.map(\.keys.token))) AS c(deliveryId, ownKey, tokenKey)
        LEFT JOIN pushNewest own ON own.collapseKey = c.ownKey LEFT JOIN pushNewest token ON token.collapseKey = c.tokenKey
        """
    }

    /// Those of these deliveries without a token that a newer one to their device has replaced.
    static func superseded(_ claimed: [(deliveryId: Int64, own: [UInt8])]) -> Query {
        """
        SELECT c.deliveryId FROM unnest(\(claimed.map(\.deliveryId)), \(claimed.map(\.own))) AS c(deliveryId, ownKey)
        LEFT JOIN pushNewest own ON own.collapseKey = c.ownKey WHERE own.deliveryId IS DISTINCT FROM c.deliveryId
        """
    }

    /// What an outcome says to the others with its delivery's `collapseId`.
    struct Ended: Hashable {
        var deliveryId: Int64
        var keys: NewestKeys
        /// Set for one that was not attempted, as another was in flight until then.
        var waitsUntil: Timestamp?
        /// Set for a flight that is ended later than its outcome was written, to its limit: its delivery may be in flight again.
        var flightUntil: Timestamp?
    }

    /// The rows of these keys. Those of tokens are locked; what another transaction has locked is as it was last committed.
    static func lock(tokens: [[UInt8]], devices: [[UInt8]] = []) -> Query {
        """
        WITH locked AS MATERIALIZED (
            SELECT collapseKey, deliveryId, inFlight, inFlightUntil FROM pushNewest
            WHERE collapseKey = ANY(\(tokens)) FOR UPDATE SKIP LOCKED
        )
        SELECT *, clock_timestamp(), true FROM locked
        UNION ALL SELECT collapseKey, deliveryId, inFlight, inFlightUntil, clock_timestamp(), false FROM pushNewest
        WHERE collapseKey = ANY(\(tokens + devices)) AND collapseKey <> ALL(ARRAY(SELECT collapseKey FROM locked))
        """
    }

    /// Ends the flights of these deliveries and makes due what waited for them. Those that a newer one has replaced, those that are due
    /// earlier than they were to be, with the time, and flights that are to be ended later, as their keys are locked.
    static func finish(
        _ outcomes: [Ended],
        on connection: BlockingConnection
    ) throws -> (replaced: Set<Int64>, due: [Int64: Timestamp], later: [Ended]) {
        guard !outcomes.isEmpty else { return ([], [:], []) }
        let tokens = Set(outcomes.map(\.keys.token))
        let devices = Set(outcomes.map(\.keys.own)).subtracting(tokens)
        // No key is waited for, and those of devices are not locked: a send to many has all of its keys locked for as long as it takes to
        // store it, and outcomes of everybody would wait for it. What it has not committed yet is found by the claim of what is now
        // scheduled.
        let rows = try connection.query(lock(tokens: Array(tokens), devices: Array(devices))).map {
            try $0.decode(([UInt8], Int64, Int64?, Timestamp?, Timestamp, Bool).self)
        }
        let known = Dictionary(
            uniqueKeysWithValues: rows.map { ($0.0, (newest: $0.1, inFlight: $0.2, until: $0.3, now: $0.4, isLocked: $0.5)) }
        )
        let ended = Set(outcomes.map(\.deliveryId))
        var replaced: Set<Int64> = []
        var due: [Int64: Timestamp] = [:]
        var later: [Ended] = []
        var flights: [[UInt8]] = []
        var waiting: [(deliveryId: Int64, until: Timestamp)] = []
        for outcome in outcomes {
            let token = known[outcome.keys.token]
            let isNewest = { (row: Int64?) in row == nil || row == outcome.deliveryId }
            let isNewestOfToken = isNewest(token?.newest)
            // What was in flight has been the newest of its token. One that was not need not have been: if it is not, its next claim
            // decides.
            if !isNewest(known[outcome.keys.own]?.newest) || !isNewestOfToken && outcome.waitsUntil == nil {
                replaced.insert(outcome.deliveryId)
            }
            guard let token else { continue }
            // The flight may have ended since, or does so in this batch: what ended it did not find this delivery scheduled. It finds only
            // the newest of the token. Without the lock nothing of this is certain.
            if let until = outcome.waitsUntil {
                if !token.isLocked {
                    due[outcome.deliveryId] = token.now + lockPause
                } else if !isNewestOfToken || token.until != until || token.inFlight.map(ended.contains) != false {
                    due[outcome.deliveryId] = token.now
                }
            }
            guard token.inFlight == outcome.deliveryId, outcome.flightUntil == nil || outcome.flightUntil == token.until else { continue }
            guard token.isLocked else {
                later.append(Ended(deliveryId: outcome.deliveryId, keys: outcome.keys, flightUntil: token.until))
                continue
            }
            flights.append(outcome.keys.token)
            if !isNewestOfToken, let until = token.until { waiting.append((token.newest, until)) }
        }
        // What waits does so until exactly this time. By arrays: next to an old snapshot a join may read all that has ever waited. Who has
        // one locked ends it or moves it: an even newer one may be being stored.
        if !waiting.isEmpty {
            try connection.executeLater(
                """
                UPDATE pushScheduled SET runAt = clock_timestamp() WHERE deliveryId = ANY(ARRAY(
                    SELECT deliveryId FROM pushScheduled
                    WHERE deliveryId = ANY(\(waiting.map(\.deliveryId))) AND runAt = ANY(\(waiting.map(\.until))) FOR UPDATE SKIP LOCKED
                ))
                """
            )
        }
        if !flights.isEmpty {
            try connection.executeLater("UPDATE pushNewest SET inFlight = NULL, inFlightUntil = NULL WHERE collapseKey = ANY(\(flights))")
        }
        return (replaced, due, later)
    }
}
