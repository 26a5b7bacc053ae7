-- Start tokens by attributes type: ActivityKit hands out one for each type of activity that an app declares, not one for each device.
--
-- Lock: none on existing data; creates only (SHARE ROW EXCLUSIVE on devices for a moment, for the foreign key).
--
-- devices.pushToStartToken stays the token of an app that does not name its type: it starts activities of any type that has none of its own.

CREATE TABLE deviceStartTokens (
    userId         text COLLATE "C" NOT NULL,
    deviceId       text COLLATE "C" NOT NULL,
    -- The name of the ActivityAttributes struct.
    attributesType text COLLATE "C" NOT NULL,
    app            text COLLATE "C" NOT NULL,
    -- Null while it is off.
    token          text,
    tokenHash      text COLLATE "C" NOT NULL,
    state          deviceTokenState NOT NULL,
    -- Why it is not active: the provider's code, or 'moved'.
    cause          text,
    since          timestamptz NOT NULL,
    -- When the app last registered it: a 410 older than that does not count.
    registeredAt   timestamptz NOT NULL,
    -- From deviceRegistrationVersions, as devices.registrationVersion.
    version        bigint NOT NULL,
    PRIMARY KEY (userId, deviceId, attributesType),
    FOREIGN KEY (userId, deviceId) REFERENCES devices ON DELETE CASCADE
);

COMMENT ON TABLE deviceStartTokens IS 'Push-to-start tokens of devices whose app names the attributes type they are of.';
COMMENT ON COLUMN deviceStartTokens.token IS 'The token, sealed. Never to be granted to analysts, logged or shown.';

-- One owner a token, and the way from it to its device.
CREATE UNIQUE INDEX deviceStartTokens_owner ON deviceStartTokens (tokenHash, app) WHERE state <> 'off';

INSERT INTO analystColumns VALUES
    ('deviceStartTokens', 'userId, deviceId, attributesType, app, tokenHash, state, cause, since, registeredAt');
SELECT openToAnalysts();
