-- Question:   What alerted, for how long, and how soon was it acknowledged? Alerts with time to acknowledge and to resolve.
-- Parameters: since, until (timestamptz).
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v since=2026-03-01 -v until=now -f sql/queries/alertsWithResponse.sql
-- Reads:      alerts, by the index on firedAt.
SELECT firedAt, rule, groupKey, severity, state, resolvedAt - firedAt AS lasted, acknowledgedAt - firedAt AS acknowledgedAfter,
       acknowledgedBy, silencedBy IS NOT NULL AS wasSilenced, revised, alertId
FROM alerts
WHERE firedAt >= :'since'::timestamptz AND firedAt < :'until'::timestamptz
ORDER BY firedAt DESC, alertId;
