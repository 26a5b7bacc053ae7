-- Question:   Where can this person be reached? Each device, whether its token works, and since when it does not.
-- Parameters: uid.
-- Run:        psql "$PUSHWATCH_ANALYST_URL" -v uid=u-123 -f sql/queries/userDevices.sql
-- Reads:      one person's devices, by their key.
SELECT deviceId, platform, provider, environment, app, appVersion, osVersion, tokenState, tokenStateCause, tokenStateSince,
       tokenRegisteredAt, lastSeenAt, left(pushTokenHash, 15) AS token
FROM devices
WHERE userId = :'uid'
ORDER BY lastSeenAt DESC, deviceId;
