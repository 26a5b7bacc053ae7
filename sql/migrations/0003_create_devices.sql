-- Devices: the registry of push tokens, their encryption, the deactivation limiter, and audiences.
--
-- Locks: none on existing data.
--
-- A device is identified by the user who is signed in and by the device's id, not by its token: tokens rotate, and a user has several
-- devices. A token belongs to one (userId, deviceId) at a time. If it is registered elsewhere, it moves in the same transaction.
--
-- Tokens are stored encrypted, as encrypted:<keyId>:<base64>.

CREATE TYPE deviceTokenState AS ENUM ('active', 'suspect', 'inactive');

-- The environment of a token that the provider rejected with BadDeviceToken is checked once.
--   trying   rejected in the environment that the app reported; `environment` is now the other one
--   found    accepted in the other environment; kept as long as the device has this token
--   neither  rejected in both; `environment` is again the one that the app reported
CREATE TYPE environmentTrial AS ENUM ('trying', 'found', 'neither');

-- Values are never reused, not even after a device was deleted and registered again: a late response to a push for an earlier
-- registration must not match a later one.
CREATE SEQUENCE deviceRegistrationVersions;

CREATE TABLE devices (
    userId                  text COLLATE "C" NOT NULL,
    deviceId                text COLLATE "C" NOT NULL,
    platform                pushPlatform     NOT NULL,
    provider                pushProvider     NOT NULL,
    environment             pushEnvironment  NOT NULL,
    app                     text COLLATE "C" NOT NULL,
    -- Null after the token moved to another device or was unregistered. A token that a provider refused stays: that may be undone.
    pushToken               text,
    pushTokenHash           text COLLATE "C" NOT NULL,
    tokenState              deviceTokenState NOT NULL,
    -- Why the token is not active: the provider's code, 'moved' or 'unregistered'.
    tokenStateCause         text,
    tokenStateSince         timestamptz      NOT NULL,
    -- The push-to-start token of an app that does not name its attributes type. It starts activities of every type without a token of its
    -- own in deviceStartTokens.
    pushToStartToken        text,
    pushToStartTokenHash    text COLLATE "C",
    osVersion               text,
    appVersion              text,
    -- BCP 47. Chooses the text of sends that name one.
    locale                  text,
    -- From deviceRegistrationVersions, new with each registration: a response to an earlier push cannot deactivate a later registration.
    registrationVersion     bigint           NOT NULL,
    -- When the user registered the device; also when they came back after another user had it.
    registeredAt            timestamptz      NOT NULL,
    -- When the app last registered this token. A 410 with an earlier timestamp is ignored.
    tokenRegisteredAt       timestamptz      NOT NULL,
    lastSeenAt              timestamptz      NOT NULL,
    -- 90 days after lastSeenAt. Reads ignore the device from then on.
    expiresAt               timestamptz      NOT NULL,
    -- State, cause, registration time and version of the push-to-start token. Token feedback about one token never affects the other.
    pushToStartTokenState   deviceTokenState,
    pushToStartTokenCause   text,
    pushToStartTokenSince   timestamptz,
    pushToStartRegisteredAt timestamptz,
    pushToStartVersion      bigint,
    -- SHA-256 of the secrets that the latest registrations returned, newest first. Each unregisters the device without a user session.
    unregisterSecrets       bytea[]          NOT NULL DEFAULT '{}',
    -- Null: the environment that the app reported was not in doubt.
    environmentTrial        environmentTrial,
    PRIMARY KEY (userId, deviceId),
    CHECK (pushToken IS NOT NULL OR tokenState = 'inactive')
);

-- A token has one owner. Also finds the device of a token.
CREATE UNIQUE INDEX devices_tokenOwner ON devices (pushTokenHash, provider, app) WHERE tokenState <> 'inactive';
CREATE UNIQUE INDEX devices_startTokenOwner ON devices (pushToStartTokenHash, app) WHERE pushToStartTokenState <> 'inactive';
-- Whose token it was, for people who search for it.
CREATE INDEX devices_inactiveToken ON devices (pushTokenHash) WHERE tokenState = 'inactive';
-- Sends to a deviceId without a uid.
CREATE INDEX devices_deviceId ON devices (deviceId);
-- Deletion of expired devices.
CREATE INDEX devices_expiresAt ON devices (expiresAt);
-- Android devices that are new: they are sent what their user follows.
CREATE INDEX devices_android ON devices (tokenStateSince) WHERE platform = 'android';

COMMENT ON TABLE devices IS 'One row per user and device, with the tokens that pushes to it are sent to.';
COMMENT ON COLUMN devices.pushToken IS 'The encrypted token. Never to be granted to analysts, logged or shown.';
COMMENT ON COLUMN devices.pushToStartToken IS 'The encrypted push-to-start token. Never to be granted to analysts, logged or shown.';

-- ActivityKit issues one push-to-start token for each attributes type that an app declares.
CREATE TABLE deviceStartTokens (
    userId         text COLLATE "C" NOT NULL,
    deviceId       text COLLATE "C" NOT NULL,
    -- The name of the ActivityAttributes struct.
    attributesType text COLLATE "C" NOT NULL,
    app            text COLLATE "C" NOT NULL,
    -- Null while the token is inactive.
    token          text,
    tokenHash      text COLLATE "C" NOT NULL,
    state          deviceTokenState NOT NULL,
    -- Why the token is not active: the provider's code, or 'moved'.
    cause          text,
    since          timestamptz      NOT NULL,
    -- When the app last registered this token. A 410 with an earlier timestamp is ignored.
    registeredAt   timestamptz      NOT NULL,
    -- From deviceRegistrationVersions.
    version        bigint           NOT NULL,
    PRIMARY KEY (userId, deviceId, attributesType),
    FOREIGN KEY (userId, deviceId) REFERENCES devices ON DELETE CASCADE
);

-- A token has one owner. Also finds the device of a token.
CREATE UNIQUE INDEX deviceStartTokens_owner ON deviceStartTokens (tokenHash, app) WHERE state <> 'inactive';

COMMENT ON TABLE deviceStartTokens IS 'Push-to-start tokens by attributes type.';
COMMENT ON COLUMN deviceStartTokens.token IS 'The encrypted token. Never to be granted to analysts, logged or shown.';

-- Tokens of any kind that a provider called dead, whether they were registered or only named by a send. A row is deleted when an app
-- registers the token again, and after 180 days.
CREATE TABLE deadTokens (
    tokenHash text COLLATE "C" NOT NULL,
    provider  pushProvider     NOT NULL,
    app       text COLLATE "C" NOT NULL,
    -- The provider's code.
    cause     text             NOT NULL,
    since     timestamptz      NOT NULL,
    PRIMARY KEY (tokenHash, provider, app)
);

CREATE INDEX deadTokens_since ON deadTokens USING brin (since);

COMMENT ON TABLE deadTokens IS 'Tokens that a provider called dead. Nothing is sent to them until an app registers them again.';

-- Input of the alert rules with the condition `reregistration`.
CREATE TABLE deviceReregistrationHours (
    hour         timestamptz      NOT NULL,
    provider     text             NOT NULL,
    app          text COLLATE "C" NOT NULL,
    -- Devices with token_not_registered in this hour (a sample of at most some hundreds).
    devices      bigint           NOT NULL,
    -- How many of them registered a token within a day.
    reregistered bigint           NOT NULL,
    PRIMARY KEY (hour, provider, app)
);

COMMENT ON TABLE deviceReregistrationHours IS
    'Devices with token_not_registered in an hour, and how many of them registered again within a day.';

-- The keys themselves are not stored here.
CREATE TABLE tokenKeys (
    keyId       text COLLATE "C" PRIMARY KEY,
    -- A known value encrypted with the key. A server that cannot decrypt it has a different key with the same id.
    checkValue  text             NOT NULL,
    firstUsedAt timestamptz      NOT NULL
);

COMMENT ON TABLE tokenKeys IS 'Ids of the keys that tokens are encrypted with, each with a check value.';

CREATE TABLE tokenEncryption (
    -- <table>.<column>
    columnName  text        PRIMARY KEY,
    encryptedAt timestamptz NOT NULL
);

COMMENT ON TABLE tokenEncryption IS 'Columns that contain no unencrypted token any more.';

-- Input of the deactivation limiter.
CREATE TABLE tokenOutcomes (
    provider    pushProvider     NOT NULL,
    app         text COLLATE "C" NOT NULL,
    environment pushEnvironment  NOT NULL,
    credential  text COLLATE "C" NOT NULL,
    minute      timestamptz      NOT NULL,
    -- Each process counts in rows of its own, so that processes never wait for each other.
    writerSlot  integer          NOT NULL,
    -- Pushes that were accepted, or rejected because of their token.
    total       bigint           NOT NULL,
    -- Rejected for a reason that our own configuration may have caused.
    ambiguous   bigint           NOT NULL,
    -- Rejected because the token is no longer registered.
    gone        bigint           NOT NULL,
    PRIMARY KEY (provider, app, environment, credential, minute, writerSlot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE INDEX tokenOutcomes_minute ON tokenOutcomes (minute);

COMMENT ON TABLE tokenOutcomes IS 'Token feedback per minute and credential.';

CREATE TABLE deactivationLimiters (
    limiterId     bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider      pushProvider     NOT NULL,
    app           text COLLATE "C" NOT NULL,
    environment   pushEnvironment  NOT NULL,
    credential    text COLLATE "C" NOT NULL,
    openedAt      timestamptz      NOT NULL,
    -- Undo covers deactivations from then on.
    windowFrom    timestamptz      NOT NULL,
    -- The counts that opened it; see tokenOutcomes.
    total         bigint           NOT NULL,
    ambiguous     bigint           NOT NULL,
    gone          bigint           NOT NULL,
    -- The provider's code of the rejection that opened it.
    cause         text             NOT NULL,
    closedAt      timestamptz,
    closedBy      text,
    -- confirmed: the rejections were correct, and the tokens are inactive; undone: they were not, and the tokens have their earlier state.
    resolution    text             CHECK (resolution IN ('confirmed', 'undone')),
    -- After a confirmation it does not open again until then.
    cooldownUntil timestamptz,
    CHECK ((closedAt IS NULL) = (resolution IS NULL))
);

-- At most one is open per credential. While it is open, no token of the credential is deactivated.
CREATE UNIQUE INDEX deactivationLimiters_open ON deactivationLimiters (provider, app, environment, credential) WHERE closedAt IS NULL;

COMMENT ON TABLE deactivationLimiters IS
    'One row for each time that too many tokens of a credential were rejected. Open until an operator confirms or undoes the deactivations.';

CREATE TABLE tokenDeactivations (
    deactivationId      bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    userId              text COLLATE "C" NOT NULL,
    deviceId            text COLLATE "C" NOT NULL,
    tokenHash           text COLLATE "C" NOT NULL,
    -- The registration of the token. Undo does not change a later one.
    registrationVersion bigint           NOT NULL,
    provider            pushProvider     NOT NULL,
    app                 text COLLATE "C" NOT NULL,
    environment         pushEnvironment  NOT NULL,
    credential          text COLLATE "C" NOT NULL,
    -- The state that the provider's response calls for. `state` differs while a deactivation is deferred.
    verdict             text             NOT NULL CHECK (verdict IN ('inactive', 'suspect')),
    previousState       deviceTokenState NOT NULL,
    state               deviceTokenState NOT NULL,
    -- The provider's code.
    cause               text             NOT NULL,
    attemptId           text COLLATE "C",
    -- The open limiter that deferred the deactivation.
    limiterId           bigint,
    deactivatedAt       timestamptz      NOT NULL,
    undoneAt            timestamptz,
    undoneBy            text
);

CREATE INDEX tokenDeactivations_scope ON tokenDeactivations (provider, app, environment, credential, deactivatedAt);
CREATE INDEX tokenDeactivations_device ON tokenDeactivations (userId, deviceId);
CREATE INDEX tokenDeactivations_limiterId ON tokenDeactivations (limiterId) WHERE limiterId IS NOT NULL;
CREATE INDEX tokenDeactivations_deactivatedAt ON tokenDeactivations USING brin (deactivatedAt);

COMMENT ON TABLE tokenDeactivations IS
    'One row for each token that became suspect or inactive, or whose deactivation was deferred, after a push. Can be undone.';

CREATE TABLE audiences (
    audienceId text COLLATE "C" PRIMARY KEY,
    author     text             NOT NULL,
    createdAt  timestamptz      NOT NULL,
    -- When members were last added or removed.
    changedAt  timestamptz      NOT NULL
);

COMMENT ON TABLE audiences IS 'Stored lists of uids that a send can go to.';

CREATE TABLE audienceMembers (
    audienceId text COLLATE "C" NOT NULL,
    uid        text COLLATE "C" NOT NULL,
    PRIMARY KEY (audienceId, uid)
);

COMMENT ON TABLE audienceMembers IS
    'One row per audience and uid. A send to the audience goes to the devices that the users have at that moment.';
