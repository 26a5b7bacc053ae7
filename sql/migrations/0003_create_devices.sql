-- Devices: who can be reached where, and what is known about each token.
--
-- Lock: none on existing data; creates only.
--
-- Keyed by the device a user is signed in on, not by the token: tokens rotate, and one user has many devices. A token belongs to one
-- (userId, deviceId) at a time; registering it elsewhere moves it, in the same transaction.

CREATE TYPE deviceTokenState AS ENUM ('active', 'suspect', 'off');

-- Never reused, also not after a device was removed and registered again: a late answer about an old registration must not match.
CREATE SEQUENCE deviceRegistrationVersions;

CREATE TABLE devices (
    userId              text COLLATE "C" NOT NULL,
    deviceId            text COLLATE "C" NOT NULL,
    platform            pushPlatform NOT NULL,
    provider            pushProvider NOT NULL,
    environment         pushEnvironment NOT NULL,
    app                 text COLLATE "C" NOT NULL,
    pushToken           text NOT NULL,
    pushTokenHash       text COLLATE "C" NOT NULL,
    tokenState          deviceTokenState NOT NULL,
    -- Why the token is not active: the provider's code, or 'moved'.
    tokenStateCause     text,
    tokenStateSince     timestamptz NOT NULL,
    pushToStartToken    text,
    pushToStartTokenHash text COLLATE "C",
    osVersion           text,
    appVersion          text,
    -- Bumps with each registration of a token, so that an answer to an older send cannot switch off a newer registration.
    registrationVersion bigint NOT NULL,
    registeredAt        timestamptz NOT NULL,
    tokenRegisteredAt   timestamptz NOT NULL,
    lastSeenAt          timestamptz NOT NULL,
    -- 90 days after lastSeenAt; a device that has not been seen for so long is hidden from every read.
    expiresAt           timestamptz NOT NULL,
    PRIMARY KEY (userId, deviceId)
);

COMMENT ON TABLE devices IS 'One row per user and device; the token is what pushes to it are addressed to.';
COMMENT ON COLUMN devices.pushToken IS 'The raw token: never to be granted to analysts, logged or shown.';
COMMENT ON COLUMN devices.pushToStartToken IS 'The raw Live Activity start token: never to be granted to analysts, logged or shown.';
COMMENT ON COLUMN devices.tokenRegisteredAt IS 'When the app last registered this token: a 410 older than that does not count.';

-- One owner a token, and the way from a token to its device.
CREATE UNIQUE INDEX devices_tokenOwner ON devices (pushTokenHash, provider, app) WHERE tokenState <> 'off';

-- Sends addressed to a deviceId alone.
CREATE INDEX devices_deviceId ON devices (deviceId);
