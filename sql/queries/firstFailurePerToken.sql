-- Question:   When did each token fail for the first time, with what, and had it worked before within the time asked for?
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=yesterday -v until=now -f sql/queries/firstFailurePerToken.sql
-- Reads:      attempts of the time asked for. Shows the 1,000 latest.
WITH failure AS (
    SELECT DISTINCT ON (tokenHash) tokenHash, uid, provider, attemptedAt, reasonCode, providerErrorCode
    FROM notificationDeliveryAttempts
    WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
      AND eventType = 'send' AND status IN ('failed', 'deactivated')
    ORDER BY tokenHash, attemptedAt
), success AS (
    SELECT tokenHash, min(attemptedAt) AS firstSentAt
    FROM notificationDeliveryAttempts
    WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
      AND eventType = 'send' AND status = 'sent'
    GROUP BY 1
)
SELECT failure.tokenHash, failure.uid, failure.provider, failure.attemptedAt AS firstFailureAt,
       failure.reasonCode, failure.providerErrorCode, coalesce(success.firstSentAt < failure.attemptedAt, false) AS workedBefore
FROM failure LEFT JOIN success USING (tokenHash)
ORDER BY failure.attemptedAt DESC, tokenHash
LIMIT 1000;
