-- Question:   How many registrations and removals of devices are there per day, platform and app? Those of start tokens are left out.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=2026-03-01 -v until=now -f sql/queries/registrationsByDay.sql
-- Reads:      rollups. An app registers at each launch: for how many devices, count the tokens in the attempts.
SELECT (minute AT TIME ZONE 'UTC')::date AS day, platform, app,
       coalesce(sum(attempts) FILTER (WHERE eventType = 'register' AND status = 'sent'), 0) AS registered,
       coalesce(sum(attempts) FILTER (WHERE eventType = 'register' AND status IN ('failed', 'deactivated')), 0) AS registrationsFailed,
       coalesce(sum(attempts) FILTER (WHERE eventType = 'unregister' AND status = 'sent'), 0) AS unregistered
FROM attemptsPerMinute
WHERE minute >= :'since'::timestamptz AND minute < :'until'::timestamptz AND eventType <> 'send'
  AND pushType IS DISTINCT FROM 'liveactivity'
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;
