-- Question:   Do retries help? Success per number of the try, over the tries of one send at one token.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=yesterday -v until=now -f sql/queries/successByAttemptNumber.sql
-- Reads:      attempts of the time asked for that belong to a send (sendId). A send that began before `since` counts from its first
--             try within the time.
WITH tries AS (
    SELECT status, row_number() OVER (PARTITION BY sendId, tokenHash ORDER BY attemptedAt, attemptId) AS attemptNumber
    FROM notificationDeliveryAttempts
    WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
      AND eventType = 'send' AND status <> 'queued' AND sendId IS NOT NULL
)
SELECT attemptNumber, count(*) AS tries, count(*) FILTER (WHERE status = 'sent') AS sent,
       round(100.0 * count(*) FILTER (WHERE status = 'sent') / count(*), 2) AS sentPercent
FROM tries
GROUP BY 1
ORDER BY 1;
