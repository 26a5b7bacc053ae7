-- Question:   What did the minutes around an alert look like? Attempts and failures per minute, with every minute listed.
-- Parameters: since, until (timestamptz), provider (apns or fcm).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since='2026-03-10 11:30Z' -v until='2026-03-10 12:30Z' -v provider=fcm \
--                 -f sql/queries/failuresPerMinute.sql
-- Reads:      rollups.
SELECT slot.minute, coalesce(sum(attempts), 0) AS attempts,
       coalesce(sum(attempts) FILTER (WHERE status IN ('failed', 'deactivated')), 0) AS failures,
       coalesce(sum(attempts) FILTER (WHERE reasonCode IN ('provider_5xx', 'network')), 0) AS providerTrouble
FROM generate_series(date_trunc('minute', :'since'::timestamptz), :'until'::timestamptz - interval '1 microsecond', interval '1 minute')
         AS slot (minute)
LEFT JOIN (SELECT minute, status, reasonCode, attempts FROM attemptsPerMinute
           WHERE minute >= date_trunc('minute', :'since'::timestamptz) AND minute < :'until'::timestamptz
             AND provider = :'provider'::pushProvider AND eventType = 'send' AND status <> 'queued') AS counted USING (minute)
GROUP BY 1
ORDER BY 1;
