-- Question:   What share of our sends arrived at the provider, per day, provider and platform?
-- Parameters: since, until (timestamptz: '2026-03-01', 'yesterday', 'now', …); since counts, until does not.
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=2026-03-01 -v until=today -f sql/queries/deliveryRateByDay.sql
-- Reads:      rollups; cost follows minutes and combinations, not attempts.
SELECT (minute AT TIME ZONE 'UTC')::date AS day, provider, platform,
       coalesce(sum(attempts) FILTER (WHERE status = 'sent'), 0) AS sent,
       coalesce(sum(attempts) FILTER (WHERE status IN ('failed', 'deactivated')), 0) AS failed,
       round(100.0 * coalesce(sum(attempts) FILTER (WHERE status = 'sent'), 0) / sum(attempts), 2) AS sentPercent
FROM attemptsPerMinute
WHERE minute >= :'since'::timestamptz AND minute < :'until'::timestamptz
  AND eventType = 'send' AND status <> 'queued'
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;
