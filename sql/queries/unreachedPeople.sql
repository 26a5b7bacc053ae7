-- Question:   Whom did we try to reach and never did? People with failed sends and no accepted one, with their last reason.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=yesterday -v until=now -f sql/queries/unreachedPeople.sql
-- Reads:      attempts of the time asked for, without broadcasts to matches' channels. The 1,000 with the most failures.
SELECT uid, count(*) AS failures, min(attemptedAt) AS firstAt, max(attemptedAt) AS lastAt,
       (array_agg(reasonCode ORDER BY attemptedAt DESC))[1] AS lastReason
FROM notificationDeliveryAttempts
WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
  AND eventType = 'send' AND status <> 'queued' AND uid NOT LIKE 'channel:%'
GROUP BY 1
HAVING bool_and(status <> 'sent')
ORDER BY 2 DESC, 1
LIMIT 1000;
