-- Question:   Which people came back with a new registration after a provider had said token_not_registered, and how long did it take?
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=2026-03-01 -v until=now -f sql/queries/reregisteredAfterNotRegistered.sql
-- Reads:      attempts of the time asked for, without those of Live Activities, whose tokens are other ones. A person who has not come back
--             is listed with NULL; the 1,000 latest.
WITH lost AS (
    SELECT uid, platform, min(attemptedAt) AS lostAt
    FROM notificationDeliveryAttempts
    WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
      AND reasonCode = 'token_not_registered' AND pushType IS DISTINCT FROM 'liveactivity'
    GROUP BY 1, 2
), registration AS (
    SELECT uid, platform, attemptedAt
    FROM notificationDeliveryAttempts
    WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
      AND eventType = 'register' AND status = 'sent' AND pushType IS DISTINCT FROM 'liveactivity'
)
SELECT lost.uid, lost.platform, lost.lostAt, min(registration.attemptedAt) AS backAt,
       min(registration.attemptedAt) - lost.lostAt AS took
FROM lost LEFT JOIN registration
    ON registration.uid = lost.uid AND registration.platform = lost.platform AND registration.attemptedAt > lost.lostAt
GROUP BY 1, 2, 3
ORDER BY lost.lostAt DESC, lost.uid, lost.platform
LIMIT 1000;
