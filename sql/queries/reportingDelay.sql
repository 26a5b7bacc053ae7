-- Question:   How late do attempts reach us? Seconds from the try to its storage, per app and event: median, 95th percentile, worst.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=yesterday -v until=now -f sql/queries/reportingDelay.sql
-- Reads:      attempts of the time asked for; sorts their delays. Minus values are clocks that run ahead.
SELECT app, eventType, count(*) AS attempts,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM receivedAt - attemptedAt)) AS medianSeconds,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM receivedAt - attemptedAt)) AS p95Seconds,
       max(extract(epoch FROM receivedAt - attemptedAt))::float8 AS worstSeconds
FROM notificationDeliveryAttempts
WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
GROUP BY 1, 2
ORDER BY 1, 2;
