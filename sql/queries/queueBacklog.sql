-- Question:   Is the queue moving? Deliveries that can be sent now, their oldest, and those that wait for a later moment, per lane.
-- Parameters: none.
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -f sql/queries/queueBacklog.sql
-- Reads:      the queue as it stands.
WITH ready AS (SELECT lane, count(*) AS ready, min(readyAt) AS oldestReadyAt FROM pushReady GROUP BY 1),
     scheduled AS (SELECT lane, count(*) FILTER (WHERE holdId IS NULL) AS scheduled, count(holdId) AS held,
                         min(runAt) FILTER (WHERE holdId IS NULL) AS nextAt FROM pushScheduled GROUP BY 1),
     leased AS (SELECT lane, count(*) AS sending FROM pushLeases GROUP BY 1)
SELECT app, provider, critical, coalesce(ready, 0) AS ready, oldestReadyAt, coalesce(sending, 0) AS sending,
       coalesce(scheduled, 0) AS scheduled, coalesce(held, 0) AS held, nextAt
FROM pushLanes LEFT JOIN ready USING (lane) LEFT JOIN scheduled USING (lane) LEFT JOIN leased USING (lane)
ORDER BY 4 DESC, 1, 2, 3;
