-- Question:   Does a version of the app receive worse than others? Share of sends accepted, per day and app version.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=yesterday -v until=today -f sql/queries/deliveryRateByAppVersion.sql
-- Reads:      attempts of the time asked for; the version is not in the rollups.
SELECT (attemptedAt AT TIME ZONE 'UTC')::date AS day, app, appVersion,
       count(*) AS attempts,
       count(*) FILTER (WHERE status = 'sent') AS sent,
       round(100.0 * count(*) FILTER (WHERE status = 'sent') / count(*), 2) AS sentPercent
FROM notificationDeliveryAttempts
WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
  AND eventType = 'send' AND status <> 'queued'
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;
