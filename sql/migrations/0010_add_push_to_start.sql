-- Devices: the state of the push-to-start token, and the secret that unregisters a device without its user's session.
--
-- Lock: ACCESS EXCLUSIVE on devices for a moment (columns without a rewrite); its indexes are built under SHARE, which stops registrations
-- while it lasts (seconds for a million devices).
--
-- The start token has a state, a cause and a version of its own: an answer about one token never touches the other.

ALTER TABLE devices
    ADD COLUMN pushToStartTokenState   deviceTokenState,
    ADD COLUMN pushToStartTokenCause   text,
    ADD COLUMN pushToStartTokenSince   timestamptz,
    -- When the app last registered this start token: a 410 older than that does not count.
    ADD COLUMN pushToStartRegisteredAt timestamptz,
    -- From deviceRegistrationVersions, as registrationVersion.
    ADD COLUMN pushToStartVersion      bigint,
    -- SHA-256 of the newest secrets that registrations were answered with, newest first.
    ADD COLUMN unregisterSecrets       bytea[] NOT NULL DEFAULT '{}';

COMMENT ON COLUMN devices.pushToken IS 'The token, sealed (sealed:<key>:<base64>). Never to be granted to analysts, logged or shown.';
COMMENT ON COLUMN devices.pushToStartToken IS 'The Live Activity start token, sealed. Never to be granted to analysts, logged or shown.';
COMMENT ON COLUMN pushDeliveries.pushToken IS 'The sealed token of a send addressed to one: never to be granted to analysts, logged or shown.';

-- One owner a start token, and the way from it to its device.
CREATE UNIQUE INDEX devices_startTokenOwner ON devices (pushToStartTokenHash, app) WHERE pushToStartTokenState <> 'off';

-- The sweep of those not seen for 90 days.
CREATE INDEX devices_expiresAt ON devices (expiresAt);

UPDATE analystColumns
SET columns = columns || ', pushToStartTokenHash, pushToStartTokenState, pushToStartTokenCause, pushToStartTokenSince, pushToStartRegisteredAt'
WHERE relation = 'devices';

SELECT openToAnalysts();
