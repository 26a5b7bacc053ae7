-- Question:   What hides behind `unknown`? The provider's own codes of those failures, most frequent first.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=yesterday -v until=now -f sql/queries/codesBehindUnknown.sql
-- Reads:      attempts of the time asked for. A broadcast to a match counts as a failure, and its channel not among the people.
SELECT provider, coalesce(providerErrorCode, '(none)') AS code, count(*) AS failures,
       count(DISTINCT uid) FILTER (WHERE uid NOT LIKE 'channel:%') AS people,
       min(attemptedAt) AS firstAt, max(attemptedAt) AS lastAt
FROM notificationDeliveryAttempts
WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz AND reasonCode = 'unknown'
GROUP BY 1, 2
ORDER BY 3 DESC, 1, 2
LIMIT 50;
