-- Question:   Why do sends fail? Failures per provider and reason, with their share of all failures of the provider.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=yesterday -v until=now -f sql/queries/failuresByReason.sql
-- Reads:      rollups.
SELECT provider, reasonCode, sum(attempts) AS failures,
       round(100.0 * sum(attempts) / sum(sum(attempts)) OVER (PARTITION BY provider), 2) AS percentOfFailures
FROM attemptsPerMinute
WHERE minute >= :'since'::timestamptz AND minute < :'until'::timestamptz
  AND eventType = 'send' AND status IN ('failed', 'deactivated')
GROUP BY 1, 2
ORDER BY 1, 3 DESC, 2;
