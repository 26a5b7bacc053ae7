-- Question:   Is the queue moving? Deliveries that can be sent now, their oldest, and those that wait for a later moment, per queue.
-- Parameters: none.
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -f sql/queries/queueBacklog.sql
-- Reads:      the queue, now.
WITH ready AS (SELECT queue, count(*) AS ready, min(readyAt) AS oldestReadyAt FROM pushReady GROUP BY 1),
     scheduled AS (SELECT queue, count(*) FILTER (WHERE circuitId IS NULL) AS scheduled, count(circuitId) AS blocked,
                         min(runAt) FILTER (WHERE circuitId IS NULL) AS nextAt FROM pushScheduled GROUP BY 1),
     leased AS (SELECT queue, count(*) AS sending FROM pushLeasedDeliveries GROUP BY 1)
SELECT app, provider, environment, class, coalesce(ready, 0) AS ready, oldestReadyAt, coalesce(sending, 0) AS sending,
       coalesce(scheduled, 0) AS scheduled, coalesce(blocked, 0) AS blocked, nextAt
FROM pushQueues LEFT JOIN ready USING (queue) LEFT JOIN scheduled USING (queue) LEFT JOIN leased USING (queue)
ORDER BY 5 DESC, 1, 2, 3, 4;
