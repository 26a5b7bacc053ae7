-- Question:   Is a provider getting slower? Mean time to its answer, per provider and hour, cheaply.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=yesterday -v until=now -f sql/queries/meanLatencyByHour.sql
-- Reads:      rollups. For medians see latencyByProviderAndHour.sql.
SELECT date_trunc('hour', minute, 'UTC') AS hour, provider,
       sum(latencyCount) AS answers,
       round(sum(latencyMsSum) / sum(latencyCount), 1) AS meanMs
FROM attemptsPerMinute
WHERE minute >= :'since'::timestamptz AND minute < :'until'::timestamptz AND eventType = 'send'
GROUP BY 1, 2
HAVING sum(latencyCount) > 0
ORDER BY 1, 2;
