-- Question:   Is this normal? Attempts and failures per hour, with the same hour a week before.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=today -v until=now -f sql/queries/comparedWithWeekBefore.sql
-- Reads:      rollups, twice the time asked for.
-- 168 hours: a day of an interval is one of the session's time zone. Two ranges with bounds of their own: over more than a week they
-- overlap, and a minute counts in both.
WITH counted AS (
    SELECT true AS isNow, date_trunc('hour', minute, 'UTC') AS hour, status, attempts
    FROM attemptsPerMinute
    WHERE minute >= :'since'::timestamptz AND minute < :'until'::timestamptz AND eventType = 'send' AND status <> 'queued'
    UNION ALL
    SELECT false, date_trunc('hour', minute + interval '168 hours', 'UTC'), status, attempts
    FROM attemptsPerMinute
    WHERE minute >= :'since'::timestamptz - interval '168 hours' AND minute < :'until'::timestamptz - interval '168 hours'
      AND eventType = 'send' AND status <> 'queued'
)
SELECT hour,
       coalesce(sum(attempts) FILTER (WHERE isNow), 0) AS attempts,
       coalesce(sum(attempts) FILTER (WHERE isNow AND status <> 'sent'), 0) AS failures,
       coalesce(sum(attempts) FILTER (WHERE NOT isNow), 0) AS attemptsWeekBefore,
       coalesce(sum(attempts) FILTER (WHERE NOT isNow AND status <> 'sent'), 0) AS failuresWeekBefore
FROM counted
GROUP BY 1
ORDER BY 1;
