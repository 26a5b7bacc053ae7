-- Question:   Which people came back with a new registration after a provider had said token_not_registered, and how long did it take?
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=2026-03-01 -v until=now -f sql/queries/reregisteredAfterNotRegistered.sql
-- Reads:      attempts of the time asked for, without those of Live Activities, whose tokens are other ones, and earlier ones of the people
--             listed, by the index on uid. A person who has not come back is listed with NULL; the 1,000 latest lost tokens. Apps register
--             at each launch: only a token of the same app that was never seen before is a new registration, any other is of another
--             device.
WITH lost AS (
    SELECT uid, platform, tokenHash, max(app) AS app, min(attemptedAt) AS lostAt
    FROM notificationDeliveryAttempts
    WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
      AND reasonCode = 'token_not_registered' AND pushType IS DISTINCT FROM 'liveactivity'
    GROUP BY 1, 2, 3
    ORDER BY lostAt DESC, uid, platform, tokenHash
    LIMIT 1000
), token AS (
    SELECT uid, platform, tokenHash, max(app) AS app, min(attemptedAt) AS seenAt,
           min(attemptedAt) FILTER (WHERE eventType = 'register' AND status = 'sent') AS registeredAt
    FROM notificationDeliveryAttempts
    WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
      AND uid IN (SELECT uid FROM lost) AND pushType IS DISTINCT FROM 'liveactivity'
    GROUP BY 1, 2, 3
), seenBefore AS (
    SELECT DISTINCT uid, platform, tokenHash
    FROM notificationDeliveryAttempts
    WHERE attemptedAt < :'since'::timestamptz AND (uid, tokenHash) IN (SELECT uid, tokenHash FROM token WHERE registeredAt IS NOT NULL)
), fresh AS (
    SELECT * FROM token WHERE (uid, platform, tokenHash) NOT IN (SELECT uid, platform, tokenHash FROM seenBefore)
)
SELECT lost.uid, lost.platform, lost.app, left(lost.tokenHash, 15) AS lostToken, lost.lostAt, min(fresh.registeredAt) AS backAt,
       min(fresh.registeredAt) - lost.lostAt AS took
-- Without an app, which senders may leave out, each app is the same.
FROM lost LEFT JOIN fresh
    ON fresh.uid = lost.uid AND fresh.platform = lost.platform AND coalesce(fresh.app = lost.app, true) AND fresh.seenAt > lost.lostAt
GROUP BY lost.uid, lost.platform, lost.app, lost.tokenHash, lost.lostAt
ORDER BY lost.lostAt DESC, lost.uid, lost.platform, lost.tokenHash;
