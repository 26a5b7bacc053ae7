-- Question:   What is there to archive? Every attempt as a line of NDJSON, as `pushwatch attempts import` reads it.
-- Parameters: since, until (timestamptz); a day at a time.
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -At -v ON_ERROR_STOP=1 -v FETCH_COUNT=10000 -v since=yesterday -v until=today \
--                 -o attempts.ndjson -f sql/queries/exportAttempts.sql
-- Reads:      attempts of the time asked for.
SELECT json_strip_nulls(json_build_object(
    'attemptId', attemptId, 'uid', uid, 'platform', platform, 'provider', provider, 'tokenHash', tokenHash,
    'eventType', eventType, 'status', status, 'reasonCode', reasonCode, 'providerErrorCode', providerErrorCode,
    'attemptedAt', attemptedAt, 'requestId', requestId, 'app', app, 'environment', environment, 'pushType', pushType,
    'appVersion', appVersion, 'providerMessageId', providerMessageId, 'latencyMs', latencyMs, 'sendId', sendId
))
FROM notificationDeliveryAttempts
WHERE attemptedAt >= :'since'::timestamptz AND attemptedAt < :'until'::timestamptz
ORDER BY attemptedAt, attemptKey;
