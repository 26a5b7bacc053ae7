-- Question:   What happened to this person? Every attempt in order, with its outcome.
-- Parameters: uid; since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v uid=u-123 -v since=today -v until=now -f sql/queries/userTimeline.sql
-- Reads:      one person's attempts, by the index on uid.
SELECT attemptedAt, eventType, platform, provider, status, reasonCode, providerErrorCode, latencyMs,
       app, environment, pushType, sendId, left(tokenHash, 15) AS token, attemptId
FROM notificationDeliveryAttempts
WHERE uid = :'uid' AND attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
ORDER BY attemptedAt, attemptId;
