-- Devices: the registry of push tokens, their encryption, the deactivation limiter, and audiences.
--
-- Locks: none on existing data.
--
-- A device is identified by the user who is signed in and by the device's id, not by its token: tokens rotate, and a user has several
-- devices. A token belongs to one (userId, deviceId) at a time. If it is registered elsewhere, it moves in the same transaction.
--
-- Tokens are stored encrypted, as encrypted:<keyId>:<base64>.

CREATE TYPE deviceTokenState AS ENUM ('active', 'suspect', 'inactive');
COMMENT ON TYPE deviceTokenState IS
    'State of a token. active: pushes are sent to it; suspect: a provider refused it for a reason that our own configuration may have caused, and it rests for an hour; inactive: nothing is sent to it.';

CREATE TYPE environmentTrial AS ENUM ('trying', 'found', 'neither');
COMMENT ON TYPE environmentTrial IS
    'The environment of a token that the provider rejected with BadDeviceToken is checked once. trying: rejected in the environment that the app reported, and environment is now the other one; found: accepted in the other environment, kept as long as the device has this token; neither: rejected in both, and environment is again the one that the app reported.';

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
    tokenStateCause         text,
    tokenStateSince         timestamptz      NOT NULL,
    -- The push-to-start token of an app that does not name its attributes type. It starts activities of every type without a token of its
    -- own in deviceStartTokens.
    pushToStartToken        text,
    pushToStartTokenHash    text COLLATE "C",
    osVersion               text,
    appVersion              text,
    locale                  text,
    -- From deviceRegistrationVersions, new with each registration: a response to an earlier push cannot deactivate a later registration.
    registrationVersion     bigint           NOT NULL,
    registeredAt            timestamptz      NOT NULL,
    tokenRegisteredAt       timestamptz      NOT NULL,
    lastSeenAt              timestamptz      NOT NULL,
    expiresAt               timestamptz      NOT NULL,
    pushToStartTokenState   deviceTokenState,
    pushToStartTokenCause   text,
    pushToStartTokenSince   timestamptz,
    pushToStartRegisteredAt timestamptz,
    -- From deviceRegistrationVersions.
    pushToStartVersion      bigint,
    -- SHA-256 of the secrets that the latest registrations returned, newest first. Each unregisters the device without a user session.
    unregisterSecrets       bytea[]          NOT NULL DEFAULT '{}',
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
COMMENT ON COLUMN devices.userId IS 'The user who is signed in.';
COMMENT ON COLUMN devices.deviceId IS 'Identifies the device, with userId.';
COMMENT ON COLUMN devices.platform IS 'Platform of the device.';
COMMENT ON COLUMN devices.provider IS 'Provider of the token.';
COMMENT ON COLUMN devices.environment IS 'Environment of the token.';
COMMENT ON COLUMN devices.app IS 'Bundle id or FCM app.';
COMMENT ON COLUMN devices.pushTokenHash IS 'Hash of the token: ''sha256:'' and 64 hex digits.';
COMMENT ON COLUMN devices.tokenState IS 'State of the token.';
COMMENT ON COLUMN devices.tokenStateCause IS
    'Why the token is not active: the provider''s code, ''moved'' or ''unregistered''; NULL if it is active.';
COMMENT ON COLUMN devices.tokenStateSince IS 'When the token entered its state.';
COMMENT ON COLUMN devices.osVersion IS 'Version of the operating system; NULL if the app did not report it.';
COMMENT ON COLUMN devices.appVersion IS 'Version of the app; NULL if the app did not report it.';
COMMENT ON COLUMN devices.locale IS 'BCP 47. Chooses the text of sends that name one; NULL if the app did not report it.';
COMMENT ON COLUMN devices.registeredAt IS 'When the user registered the device; also when they came back after another user had it.';
COMMENT ON COLUMN devices.tokenRegisteredAt IS
    'When the app last registered this token. A 410 with an earlier timestamp is ignored.';
COMMENT ON COLUMN devices.lastSeenAt IS 'When the app last registered the device.';
COMMENT ON COLUMN devices.expiresAt IS '90 days after lastSeenAt. The device is ignored from then on, and deleted.';
COMMENT ON COLUMN devices.pushToStartTokenHash IS
    'Hash of the push-to-start token of an app that does not name its attributes type; NULL if there is none.';
COMMENT ON COLUMN devices.pushToStartTokenState IS
    'State of the push-to-start token; NULL if there is none. Feedback about one token never affects the other.';
COMMENT ON COLUMN devices.pushToStartTokenCause IS 'Why the push-to-start token is not active; NULL if it is, or if there is none.';
COMMENT ON COLUMN devices.pushToStartTokenSince IS 'When the push-to-start token entered its state; NULL if there is none.';
COMMENT ON COLUMN devices.pushToStartRegisteredAt IS 'When the app last registered this push-to-start token; NULL if there is none.';
COMMENT ON COLUMN devices.environmentTrial IS
    'Result of checking the environment of a rejected token; NULL if the environment that the app reported was not in doubt.';
COMMENT ON COLUMN devices.pushToken IS 'The encrypted token. Never to be granted to analysts, logged or shown.';
COMMENT ON COLUMN devices.pushToStartToken IS 'The encrypted push-to-start token. Never to be granted to analysts, logged or shown.';

-- ActivityKit issues one push-to-start token for each attributes type that an app declares.
CREATE TABLE deviceStartTokens (
    userId         text COLLATE "C" NOT NULL,
    deviceId       text COLLATE "C" NOT NULL,
    attributesType text COLLATE "C" NOT NULL,
    app            text COLLATE "C" NOT NULL,
    -- Null while the token is inactive.
    token          text,
    tokenHash      text COLLATE "C" NOT NULL,
    state          deviceTokenState NOT NULL,
    cause          text,
    since          timestamptz      NOT NULL,
    registeredAt   timestamptz      NOT NULL,
    -- From deviceRegistrationVersions.
    version        bigint           NOT NULL,
    PRIMARY KEY (userId, deviceId, attributesType),
    FOREIGN KEY (userId, deviceId) REFERENCES devices ON DELETE CASCADE
);

-- A token has one owner. Also finds the device of a token.
CREATE UNIQUE INDEX deviceStartTokens_owner ON deviceStartTokens (tokenHash, app) WHERE state <> 'inactive';

COMMENT ON TABLE deviceStartTokens IS 'Push-to-start tokens by attributes type.';
COMMENT ON COLUMN deviceStartTokens.userId IS 'The user of the device.';
COMMENT ON COLUMN deviceStartTokens.deviceId IS 'Identifies the device, with userId.';
COMMENT ON COLUMN deviceStartTokens.attributesType IS 'Name of the ActivityAttributes struct.';
COMMENT ON COLUMN deviceStartTokens.app IS 'Bundle id.';
COMMENT ON COLUMN deviceStartTokens.tokenHash IS 'Hash of the token: ''sha256:'' and 64 hex digits.';
COMMENT ON COLUMN deviceStartTokens.state IS 'State of the token.';
COMMENT ON COLUMN deviceStartTokens.cause IS 'Why the token is not active: the provider''s code, or ''moved''; NULL if it is active.';
COMMENT ON COLUMN deviceStartTokens.since IS 'When the token entered its state.';
COMMENT ON COLUMN deviceStartTokens.registeredAt IS
    'When the app last registered this token. A 410 with an earlier timestamp is ignored.';
COMMENT ON COLUMN deviceStartTokens.token IS 'The encrypted token. Never to be granted to analysts, logged or shown.';

-- Tokens of any kind that a provider called dead, whether they were registered or only named by a send. A row is deleted when an app
-- registers the token again, and after 180 days.
CREATE TABLE deadTokens (
    tokenHash text COLLATE "C" NOT NULL,
    provider  pushProvider     NOT NULL,
    app       text COLLATE "C" NOT NULL,
    cause     text             NOT NULL,
    since     timestamptz      NOT NULL,
    PRIMARY KEY (tokenHash, provider, app)
);

CREATE INDEX deadTokens_since ON deadTokens USING brin (since);

COMMENT ON TABLE deadTokens IS 'Tokens that a provider called dead. Nothing is sent to them until an app registers them again.';
COMMENT ON COLUMN deadTokens.tokenHash IS 'Hash of the token: ''sha256:'' and 64 hex digits.';
COMMENT ON COLUMN deadTokens.provider IS 'Provider of the token.';
COMMENT ON COLUMN deadTokens.app IS 'Bundle id or FCM app.';
COMMENT ON COLUMN deadTokens.cause IS 'The provider''s code.';
COMMENT ON COLUMN deadTokens.since IS 'When the provider called the token dead.';

-- Input of the alert rules with the condition `reregistration`.
CREATE TABLE deviceReregistrationHours (
    hour         timestamptz      NOT NULL,
    provider     text             NOT NULL,
    app          text COLLATE "C" NOT NULL,
    devices      bigint           NOT NULL,
    reregistered bigint           NOT NULL,
    PRIMARY KEY (hour, provider, app)
);

COMMENT ON TABLE deviceReregistrationHours IS
    'Devices with token_not_registered in an hour, and how many of them registered again within a day.';
COMMENT ON COLUMN deviceReregistrationHours.hour IS 'The hour of the refusals.';
COMMENT ON COLUMN deviceReregistrationHours.provider IS 'Provider of the tokens.';
COMMENT ON COLUMN deviceReregistrationHours.app IS 'Bundle id or FCM app.';
COMMENT ON COLUMN deviceReregistrationHours.devices IS
    'Number of devices with token_not_registered in this hour: a sample of at most some hundreds.';
COMMENT ON COLUMN deviceReregistrationHours.reregistered IS 'Number of them that registered a token within a day.';

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
    writerSlot  integer          NOT NULL,
    total       bigint           NOT NULL,
    ambiguous   bigint           NOT NULL,
    gone        bigint           NOT NULL,
    PRIMARY KEY (provider, app, environment, credential, minute, writerSlot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE INDEX tokenOutcomes_minute ON tokenOutcomes (minute);

COMMENT ON TABLE tokenOutcomes IS 'Token feedback per minute and credential.';
COMMENT ON COLUMN tokenOutcomes.provider IS 'Provider of the tokens.';
COMMENT ON COLUMN tokenOutcomes.app IS 'Bundle id or FCM app.';
COMMENT ON COLUMN tokenOutcomes.environment IS 'Environment of the tokens.';
COMMENT ON COLUMN tokenOutcomes.credential IS 'Name of the credential that the pushes were sent with. Not a secret.';
COMMENT ON COLUMN tokenOutcomes.minute IS 'The minute in which the outcomes were counted.';
COMMENT ON COLUMN tokenOutcomes.writerSlot IS
    'The process that counted. Each counts in rows of its own, so that processes never wait for each other. Sum over it.';
COMMENT ON COLUMN tokenOutcomes.total IS 'Number of pushes that were accepted, or rejected because of their token.';
COMMENT ON COLUMN tokenOutcomes.ambiguous IS 'Number rejected for a reason that our own configuration may have caused.';
COMMENT ON COLUMN tokenOutcomes.gone IS 'Number rejected because the token is no longer registered.';

CREATE TABLE deactivationLimiters (
    limiterId     bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider      pushProvider     NOT NULL,
    app           text COLLATE "C" NOT NULL,
    environment   pushEnvironment  NOT NULL,
    credential    text COLLATE "C" NOT NULL,
    openedAt      timestamptz      NOT NULL,
    windowFrom    timestamptz      NOT NULL,
    total         bigint           NOT NULL,
    ambiguous     bigint           NOT NULL,
    gone          bigint           NOT NULL,
    cause         text             NOT NULL,
    closedAt      timestamptz,
    closedBy      text,
    resolution    text             CHECK (resolution IN ('confirmed', 'undone')),
    cooldownUntil timestamptz,
    CHECK ((closedAt IS NULL) = (resolution IS NULL))
);

-- At most one is open per credential. While it is open, no token of the credential is deactivated.
CREATE UNIQUE INDEX deactivationLimiters_open ON deactivationLimiters (provider, app, environment, credential) WHERE closedAt IS NULL;

COMMENT ON TABLE deactivationLimiters IS
    'One row for each time that too many tokens of a credential were rejected. Open until an operator confirms or undoes the deactivations.';
COMMENT ON COLUMN deactivationLimiters.limiterId IS 'Number of the limiter.';
COMMENT ON COLUMN deactivationLimiters.provider IS 'Provider of the tokens.';
COMMENT ON COLUMN deactivationLimiters.app IS 'Bundle id or FCM app.';
COMMENT ON COLUMN deactivationLimiters.environment IS 'Environment of the tokens.';
COMMENT ON COLUMN deactivationLimiters.credential IS 'Name of the credential. Not a secret.';
COMMENT ON COLUMN deactivationLimiters.openedAt IS 'When too many tokens were rejected.';
COMMENT ON COLUMN deactivationLimiters.windowFrom IS 'Undo covers deactivations from then on.';
COMMENT ON COLUMN deactivationLimiters.total IS
    'Number of pushes that were counted when it opened: accepted, or rejected because of their token.';
COMMENT ON COLUMN deactivationLimiters.ambiguous IS
    'Number of them rejected for a reason that our own configuration may have caused.';
COMMENT ON COLUMN deactivationLimiters.gone IS 'Number of them rejected because the token is no longer registered.';
COMMENT ON COLUMN deactivationLimiters.cause IS 'The provider''s code of the rejection that opened it.';
COMMENT ON COLUMN deactivationLimiters.closedAt IS
    'When an operator confirmed or undid the deactivations; NULL while it is open. Meanwhile no token of the credential is deactivated.';
COMMENT ON COLUMN deactivationLimiters.closedBy IS 'Who did; NULL while it is open.';
COMMENT ON COLUMN deactivationLimiters.resolution IS
    'confirmed: the rejections were correct, and the tokens are inactive; undone: they were not, and the tokens have their earlier state; NULL while it is open.';
COMMENT ON COLUMN deactivationLimiters.cooldownUntil IS
    'After a confirmation it does not open again until then; NULL if it was not confirmed.';

CREATE TABLE tokenDeactivations (
    deactivationId      bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    userId              text COLLATE "C" NOT NULL,
    deviceId            text COLLATE "C" NOT NULL,
    tokenHash           text COLLATE "C" NOT NULL,
    registrationVersion bigint           NOT NULL,
    provider            pushProvider     NOT NULL,
    app                 text COLLATE "C" NOT NULL,
    environment         pushEnvironment  NOT NULL,
    credential          text COLLATE "C" NOT NULL,
    verdict             text             NOT NULL CHECK (verdict IN ('inactive', 'suspect')),
    previousState       deviceTokenState NOT NULL,
    state               deviceTokenState NOT NULL,
    cause               text             NOT NULL,
    attemptId           text COLLATE "C",
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
COMMENT ON COLUMN tokenDeactivations.deactivationId IS 'Number of the row.';
COMMENT ON COLUMN tokenDeactivations.userId IS 'The user of the device.';
COMMENT ON COLUMN tokenDeactivations.deviceId IS 'Identifies the device, with userId.';
COMMENT ON COLUMN tokenDeactivations.tokenHash IS 'Hash of the token: ''sha256:'' and 64 hex digits.';
COMMENT ON COLUMN tokenDeactivations.registrationVersion IS
    'Number of the registration of the token. Undo does not change a later one.';
COMMENT ON COLUMN tokenDeactivations.provider IS 'Provider of the token.';
COMMENT ON COLUMN tokenDeactivations.app IS 'Bundle id or FCM app.';
COMMENT ON COLUMN tokenDeactivations.environment IS 'Environment of the token.';
COMMENT ON COLUMN tokenDeactivations.credential IS 'Name of the credential that the push was sent with. Not a secret.';
COMMENT ON COLUMN tokenDeactivations.verdict IS
    'State that the provider''s response calls for: inactive or suspect. state differs while a deactivation is deferred.';
COMMENT ON COLUMN tokenDeactivations.previousState IS 'State of the token before.';
COMMENT ON COLUMN tokenDeactivations.state IS 'State that the token was given.';
COMMENT ON COLUMN tokenDeactivations.cause IS 'The provider''s code.';
COMMENT ON COLUMN tokenDeactivations.attemptId IS 'The attempt whose response it was; NULL if it is not known.';
COMMENT ON COLUMN tokenDeactivations.limiterId IS 'The open limiter that deferred the deactivation; NULL if none did.';
COMMENT ON COLUMN tokenDeactivations.deactivatedAt IS 'When the state was changed or its change deferred.';
COMMENT ON COLUMN tokenDeactivations.undoneAt IS 'When it was undone; NULL if it was not.';
COMMENT ON COLUMN tokenDeactivations.undoneBy IS 'Who undid it; NULL if nobody did.';

CREATE TABLE audiences (
    audienceId text COLLATE "C" PRIMARY KEY,
    author     text             NOT NULL,
    createdAt  timestamptz      NOT NULL,
    changedAt  timestamptz      NOT NULL
);

COMMENT ON TABLE audiences IS 'Stored lists of uids that a send can go to.';
COMMENT ON COLUMN audiences.audienceId IS 'Identifies the audience.';
COMMENT ON COLUMN audiences.author IS 'Who created it: the name of an API key or a person.';
COMMENT ON COLUMN audiences.createdAt IS 'When it was created.';
COMMENT ON COLUMN audiences.changedAt IS 'When members were last added or removed.';

CREATE TABLE audienceMembers (
    audienceId text COLLATE "C" NOT NULL,
    uid        text COLLATE "C" NOT NULL,
    PRIMARY KEY (audienceId, uid)
);

COMMENT ON TABLE audienceMembers IS
    'One row per audience and uid. A send to the audience goes to the devices that the users have at that moment.';
COMMENT ON COLUMN audienceMembers.audienceId IS 'The audience.';
COMMENT ON COLUMN audienceMembers.uid IS 'A user in it.';
