-- Question:   What became of this send? Each delivery with its state, tries and last reason.
-- Parameters: sendId.
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v sendId=match-42-goal -f sql/queries/sendOutcome.sql
-- Reads:      the deliveries of one send, by their index.
SELECT deliveryId, uid, deviceId, provider, app, state, attempts, reasonCode, providerErrorCode, createdAt, finishedAt, nextAttemptAt
FROM pushDeliveryStates
WHERE sendId = :'sendId'
ORDER BY deliveryId;
