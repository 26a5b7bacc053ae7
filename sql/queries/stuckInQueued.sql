-- Question:   Which senders report `queued` and never an outcome? Attempts still queued after ten minutes, per app and provider.
-- Parameters: since, until (timestamptz); minutes with attempts younger than ten minutes are left out.
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=yesterday -v until=now -f sql/queries/stuckInQueued.sql
-- Reads:      rollups.
SELECT app, provider, platform, sum(attempts) AS stillQueued, min(minute) AS since, max(minute) AS latest
FROM attemptsPerMinute
WHERE minute >= :'since'::timestamptz AND minute < least(:'until'::timestamptz, date_trunc('minute', now() - interval '10 minutes'))
  AND status = 'queued'
GROUP BY 1, 2, 3
ORDER BY 4 DESC, 1, 2, 3;
