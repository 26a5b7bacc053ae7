-- Question:   Is this normal? Attempts and failures per hour, with the same hour a week before.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=today -v until=now -f sql/queries/comparedWithWeekBefore.sql
-- Reads:      rollups, twice the time asked for.
WITH counted AS (
    SELECT minute >= :'since'::timestamptz AS isNow,
           date_trunc('hour', CASE WHEN minute >= :'since'::timestamptz THEN minute ELSE minute + interval '7 days' END, 'UTC') AS hour,
           status, attempts
    FROM attemptsPerMinute
    WHERE ((minute >= :'since'::timestamptz AND minute < :'until'::timestamptz)
        OR (minute >= :'since'::timestamptz - interval '7 days' AND minute < :'until'::timestamptz - interval '7 days'))
      -- The same bounds as one range, so that partitions are pruned.
      AND minute >= :'since'::timestamptz - interval '7 days' AND minute < :'until'::timestamptz
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
