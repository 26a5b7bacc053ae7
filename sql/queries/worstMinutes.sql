-- Question:   Which minutes were the worst? The 20 minutes with the highest share of failures, among those with 20 attempts or more.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=2026-03-01 -v until=now -f sql/queries/worstMinutes.sql
-- Reads:      rollups.
SELECT minute, provider, sum(attempts) AS attempts,
       sum(attempts) FILTER (WHERE status <> 'sent') AS failures,
       round(100.0 * sum(attempts) FILTER (WHERE status <> 'sent') / sum(attempts), 1) AS failedPercent
FROM attemptsPerMinute
WHERE minute >= :'since'::timestamptz AND minute < :'until'::timestamptz
  AND eventType = 'send' AND status <> 'queued'
GROUP BY 1, 2
HAVING sum(attempts) >= 20 AND sum(attempts) FILTER (WHERE status <> 'sent') > 0
ORDER BY failedPercent DESC, attempts DESC, minute, provider
LIMIT 20;
