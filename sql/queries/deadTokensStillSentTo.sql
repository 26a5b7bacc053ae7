-- Question:   Do we go on sending to tokens that a provider has called dead? Tries after the first such answer, per token.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=2026-03-01 -v until=now -f sql/queries/deadTokensStillSentTo.sql
-- Reads:      attempts of the time asked for. A token that was registered or sent to with success afterwards is left out:
--             APNs says BadDeviceToken to a token of its other environment, too, in which it is then tried.
WITH dead AS (
    SELECT tokenHash, min(attemptedAt) AS deadAt
    FROM notificationDeliveryAttempts
    WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
      AND eventType = 'send' AND reasonCode IN ('token_not_registered', 'token_invalid')
    GROUP BY 1
)
SELECT dead.tokenHash, dead.deadAt,
       count(*) FILTER (WHERE later.eventType = 'send' AND later.status <> 'queued') AS triesAfter,
       max(later.attemptedAt) FILTER (WHERE later.eventType = 'send' AND later.status <> 'queued') AS lastTryAt
FROM dead JOIN notificationDeliveryAttempts AS later ON later.tokenHash = dead.tokenHash AND later.attemptedAt > dead.deadAt
WHERE later.attemptedAt >= :'since'::timestamptz AND later.attemptedAt < :'until'::timestamptz
GROUP BY 1, 2
HAVING count(*) FILTER (WHERE later.eventType = 'send' AND later.status <> 'queued') > 0
   AND count(*) FILTER (WHERE later.eventType <> 'unregister' AND later.status = 'sent') = 0
ORDER BY 3 DESC, 1
LIMIT 1000;
