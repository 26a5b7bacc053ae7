-- Question:   What hides behind `unknown`? The provider's own codes of those failures, most frequent first.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=yesterday -v until=now -f sql/queries/codesBehindUnknown.sql
-- Reads:      attempts of the time asked for.
SELECT provider, coalesce(providerErrorCode, '(none)') AS code, count(*) AS failures, count(DISTINCT uid) AS people,
       min(attemptedAt) AS firstAt, max(attemptedAt) AS lastAt
FROM notificationDeliveryAttempts
WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz AND reasonCode = 'unknown'
GROUP BY 1, 2
ORDER BY 3 DESC, 1, 2
LIMIT 50;
