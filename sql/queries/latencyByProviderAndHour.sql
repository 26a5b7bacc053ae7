-- Question:   How long do providers take? Median, 95th percentile and slowest answer, per provider and hour.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=today -v until=now -f sql/queries/latencyByProviderAndHour.sql
-- Reads:      attempts of the time asked for; sorts their latencies.
SELECT date_trunc('hour', attemptedAt, 'UTC') AS hour, provider, count(latencyMs) AS answers,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY latencyMs) AS medianMs,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY latencyMs) AS p95Ms,
       max(latencyMs) AS slowestMs
FROM notificationDeliveryAttempts
WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
  AND eventType = 'send' AND latencyMs IS NOT NULL
GROUP BY 1, 2
ORDER BY 1, 2;
