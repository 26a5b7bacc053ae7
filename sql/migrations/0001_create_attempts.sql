-- Attempts: the contract's table, the ledger that deduplicates attemptIds, and the rollups per minute.
--
-- Locks: none on existing data.
--
-- Design (docs/decisions/0003-ledger-facts-rollups.md):
--   * The ledger has one row per attemptId. Its key is a 128-bit digest, and it is partitioned by generation, a day each;
--     nine are live.
--   * Attempts are partitioned by the day of attemptedAt. There is no default partition. Expired days are dropped, not deleted.
--   * Rollups are written in the same transaction as the attempts, so in every snapshot they equal a recount.
-- Every unique key of the ledger and of the attempts contains attemptKey. Neither table has a foreign key, a trigger or subpartitions,
-- so both can be distributed later without changes.

CREATE TYPE pushPlatform AS ENUM ('ios', 'android', 'web');
COMMENT ON TYPE pushPlatform IS 'The platform of a device.';
CREATE TYPE pushProvider AS ENUM ('apns', 'fcm');
COMMENT ON TYPE pushProvider IS 'The provider of a push: APNs or FCM.';
CREATE TYPE pushEventType AS ENUM ('register', 'unregister', 'send');
COMMENT ON TYPE pushEventType IS 'What an attempt was: registering a token, unregistering it, or sending a push to it.';
CREATE TYPE pushStatus AS ENUM ('queued', 'sent', 'failed', 'deactivated');
COMMENT ON TYPE pushStatus IS
    'Status of an attempt, in the order of progress: queued, then sent (accepted by the provider) or failed, then deactivated.';
CREATE TYPE pushReason AS ENUM ('token_invalid', 'token_not_registered', 'provider_5xx', 'network', 'auth', 'unknown');
COMMENT ON TYPE pushReason IS 'Why an attempt failed. unknown: the provider''s code maps to no other reason.';
CREATE TYPE pushEnvironment AS ENUM ('production', 'sandbox');
COMMENT ON TYPE pushEnvironment IS 'The environment of a token. APNs keeps the two apart.';

-- The names and types of the columns are those of the contract.
CREATE TABLE notificationDeliveryAttempts (
    attemptId         text COLLATE "C" NOT NULL,
    uid               text             NOT NULL,
    platform          pushPlatform     NOT NULL,
    provider          pushProvider     NOT NULL,
    tokenHash         text COLLATE "C" NOT NULL,
    eventType         pushEventType    NOT NULL,
    status            pushStatus       NOT NULL,
    reasonCode        pushReason,
    providerErrorCode text,
    attemptedAt       timestamptz      NOT NULL,
    requestId         text COLLATE "C" NOT NULL,
    app               text,
    environment       pushEnvironment,
    pushType          text,
    appVersion        text,
    providerMessageId text,
    latencyMs         integer,
    sendId            text COLLATE "C",
    receivedAt        timestamptz      NOT NULL,
    attemptKey        uuid             NOT NULL,
    foldedLabels      smallint         NOT NULL DEFAULT 0,
    -- attemptedAt is first, so that this index also serves queries by time and grows at its right edge.
    PRIMARY KEY (attemptedAt, attemptKey)
) PARTITION BY RANGE (attemptedAt);

-- Queries by user: one index per day.
CREATE INDEX notificationDeliveryAttempts_uid ON notificationDeliveryAttempts (uid, attemptedAt);

-- Provider codes that no table of the contract maps to a reason. They are rare: the partial index avoids a scan of all attempts.
CREATE INDEX notificationDeliveryAttempts_unknown ON notificationDeliveryAttempts (attemptedAt) WHERE reasonCode = 'unknown';

-- Attempts that were reported late, in the order of their arrival (`pushwatch attempts tail --follow`).
CREATE INDEX notificationDeliveryAttempts_late ON notificationDeliveryAttempts (receivedAt)
    WHERE receivedAt - attemptedAt > interval '1 minute';

COMMENT ON TABLE notificationDeliveryAttempts IS 'One row per attemptId: one try to deliver to one token.';
COMMENT ON COLUMN notificationDeliveryAttempts.attemptId IS 'Identifies the attempt. A repeated report of it is not stored again.';
COMMENT ON COLUMN notificationDeliveryAttempts.uid IS 'The user; ''channel:<matchId>'' for a broadcast to a match''s channel.';
COMMENT ON COLUMN notificationDeliveryAttempts.platform IS 'Platform of the device.';
COMMENT ON COLUMN notificationDeliveryAttempts.provider IS 'Provider of the token.';
COMMENT ON COLUMN notificationDeliveryAttempts.tokenHash IS '''sha256:'' and 64 hex digits. Never a raw token.';
COMMENT ON COLUMN notificationDeliveryAttempts.eventType IS 'What was attempted.';
COMMENT ON COLUMN notificationDeliveryAttempts.status IS
    'Latest status that was reported. sent: the provider accepted the push, which does not mean that it was shown.';
COMMENT ON COLUMN notificationDeliveryAttempts.reasonCode IS
    'Why the attempt failed; NULL unless the status is failed or deactivated.';
COMMENT ON COLUMN notificationDeliveryAttempts.providerErrorCode IS 'The provider''s own code; NULL if there is none.';
COMMENT ON COLUMN notificationDeliveryAttempts.attemptedAt IS
    'When the attempt was made, according to the first report that was stored.';
COMMENT ON COLUMN notificationDeliveryAttempts.requestId IS 'The request that caused the attempt.';
COMMENT ON COLUMN notificationDeliveryAttempts.app IS 'Bundle id or FCM app; NULL if it was not reported.';
COMMENT ON COLUMN notificationDeliveryAttempts.environment IS 'Environment of the token; NULL if it was not reported.';
COMMENT ON COLUMN notificationDeliveryAttempts.pushType IS
    'Type of the push, such as alert, background or liveactivity; NULL if it was not reported.';
COMMENT ON COLUMN notificationDeliveryAttempts.appVersion IS 'Version of the app on the device; NULL if it was not reported.';
COMMENT ON COLUMN notificationDeliveryAttempts.providerMessageId IS
    'The provider''s id of the push: the APNs id or the FCM message name; NULL if it was not reported.';
COMMENT ON COLUMN notificationDeliveryAttempts.latencyMs IS
    'Milliseconds from the start of the request to the provider''s response; NULL if it was not reported.';
COMMENT ON COLUMN notificationDeliveryAttempts.sendId IS
    'The send that the attempt belongs to; NULL if it belongs to none. Sends through Pushwatch are in pushSends.';
COMMENT ON COLUMN notificationDeliveryAttempts.receivedAt IS 'When Pushwatch first stored the attempt.';
COMMENT ON COLUMN notificationDeliveryAttempts.attemptKey IS
    'The first 16 bytes of SHA-256 of attemptId: substring(sha256(convert_to(attemptId, ''UTF8'')) for 16). Internal.';
COMMENT ON COLUMN notificationDeliveryAttempts.foldedLabels IS
    'Labels that attemptRollups counts as ''other'', since too many values were reported that day. Bits: 1 app, 2 appVersion, 4 providerErrorCode, 8 pushType.';

CREATE TABLE attemptLedger (
    -- As in notificationDeliveryAttempts.
    attemptKey  uuid        NOT NULL,
    generation  integer     NOT NULL,
    -- Digest of uid, platform, provider, tokenHash, eventType and requestId. Distinguishes a repeated report from a reuse of the attemptId.
    fingerprint uuid        NOT NULL,
    attemptedAt timestamptz NOT NULL,
    status      pushStatus  NOT NULL,
    PRIMARY KEY (attemptKey, generation)
) PARTITION BY LIST (generation);

CREATE TABLE attemptLedger_0 PARTITION OF attemptLedger FOR VALUES IN (0);
CREATE TABLE attemptLedger_1 PARTITION OF attemptLedger FOR VALUES IN (1);

COMMENT ON TABLE attemptLedger IS 'Known attemptIds, kept for at least 8 days. New rows go to the current generation.';

-- Writers read this row first in their transaction. Rotation locks the table exclusively while it switches generations.
CREATE TABLE ledgerState (
    id                 smallint    PRIMARY KEY CHECK (id = 1),
    currentGeneration  integer     NOT NULL,
    -- When the generations before it, which are still read, took their last keys: newest first, at most eight.
    frozenAt           timestamptz[] NOT NULL CHECK (cardinality(frozenAt) > 0)
);

COMMENT ON TABLE ledgerState IS 'The live generations of attemptLedger. Always one row.';

INSERT INTO ledgerState (id, currentGeneration, frozenAt) VALUES (1, 1, ARRAY[now()]);

CREATE TABLE attemptRollups (
    minute       timestamptz      NOT NULL,
    provider     pushProvider     NOT NULL,
    platform     pushPlatform     NOT NULL,
    eventType    pushEventType    NOT NULL,
    status       pushStatus       NOT NULL,
    reasonCode   text COLLATE "C" NOT NULL,
    app          text COLLATE "C" NOT NULL,
    environment  text COLLATE "C" NOT NULL,
    pushType     text COLLATE "C" NOT NULL,
    writerSlot   smallint         NOT NULL,
    attempts     bigint           NOT NULL,
    latencyMsSum bigint           NOT NULL,
    latencyCount bigint           NOT NULL,
    appMajor     text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor, writerSlot)
) PARTITION BY RANGE (minute);

COMMENT ON TABLE attemptRollups IS 'Attempts per minute and dimension. The sum over writerSlot equals a count of the attempts.';
COMMENT ON COLUMN attemptRollups.minute IS 'The minute of attemptedAt.';
COMMENT ON COLUMN attemptRollups.provider IS 'Provider of the attempts.';
COMMENT ON COLUMN attemptRollups.platform IS 'Platform of the attempts.';
COMMENT ON COLUMN attemptRollups.eventType IS 'What was attempted.';
COMMENT ON COLUMN attemptRollups.status IS 'Status of the attempts.';
COMMENT ON COLUMN attemptRollups.reasonCode IS 'Why the attempts failed; '''' if they have no reason.';
COMMENT ON COLUMN attemptRollups.app IS 'App of the attempts; '''' if it was not reported, ''other'' if too many were.';
COMMENT ON COLUMN attemptRollups.environment IS 'Environment of the attempts; '''' if it was not reported.';
COMMENT ON COLUMN attemptRollups.pushType IS 'Type of the pushes; '''' if it was not reported, ''other'' if too many were.';
COMMENT ON COLUMN attemptRollups.writerSlot IS
    'The writer that counted; -1 for past hours, which are compacted into one row. Each writer counts in rows of its own, so that writers never wait for each other. Sum over it.';
COMMENT ON COLUMN attemptRollups.attempts IS 'Number of attempts. 0 in the sum if all have advanced to another status.';
COMMENT ON COLUMN attemptRollups.latencyMsSum IS 'Sum of latencyMs, in milliseconds.';
COMMENT ON COLUMN attemptRollups.latencyCount IS 'Number of the attempts that have a latency.';
COMMENT ON COLUMN attemptRollups.appMajor IS
    'pushAppMajor(appVersion): the leading number of the app version; '''' if there is none, ''other'' if too many versions were reported.';

-- Input of the alert rules with the condition `latency`. Written with attemptRollups, and only for attempts that have a latency.
CREATE TABLE attemptLatencies (
    minute     timestamptz      NOT NULL,
    provider   pushProvider     NOT NULL,
    app        text COLLATE "C" NOT NULL,
    upToMs     integer          NOT NULL,
    writerSlot smallint         NOT NULL,
    attempts   bigint           NOT NULL,
    PRIMARY KEY (minute, provider, app, upToMs, writerSlot)
) PARTITION BY RANGE (minute);

COMMENT ON TABLE attemptLatencies IS
    'Attempts with a latency per minute, provider, app and bucket of latencyMs. The sum over writerSlot equals a count of the attempts.';
COMMENT ON COLUMN attemptLatencies.minute IS 'The minute of attemptedAt.';
COMMENT ON COLUMN attemptLatencies.provider IS 'Provider of the attempts.';
COMMENT ON COLUMN attemptLatencies.app IS 'App of the attempts; '''' if it was not reported, ''other'' if too many were.';
COMMENT ON COLUMN attemptLatencies.upToMs IS
    'The highest latencyMs of a bucket: 1, 2, 5, 10, 20, 50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 10000, 30000, 60000, 2147483647.';
COMMENT ON COLUMN attemptLatencies.writerSlot IS 'The writer that counted, as in attemptRollups. Sum over it.';
COMMENT ON COLUMN attemptLatencies.attempts IS 'Number of attempts in the bucket.';

CREATE TABLE attemptLateMinutes (
    minute     timestamptz NOT NULL,
    writerSlot smallint    NOT NULL,
    -- Attempts of that minute that were reported more than eight minutes after it.
    attempts   bigint      NOT NULL,
    -- How many of them the evaluator has looked at.
    evaluated  bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (minute, writerSlot)
);

COMMENT ON TABLE attemptLateMinutes IS 'Minutes of the last day with attempts that were reported late, which rules evaluate again.';

CREATE FUNCTION pushAppMajor(appVersion text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(substring(appVersion FROM '^[0-9]{1,4}(?![0-9])')::integer::text, '');

COMMENT ON FUNCTION pushAppMajor IS
    'The leading number of an app version such as 3.2.0. '''' if there is no version or it does not start with a number of 1 to 4 digits.';

-- With the rights of its reader: grants on attemptRollups decide.
CREATE VIEW attemptsPerMinute WITH (security_invoker = true) AS
    SELECT minute, provider, platform, eventType, status,
           nullif(reasonCode, '') AS reasonCode, nullif(app, '') AS app, nullif(environment, '') AS environment,
           nullif(pushType, '') AS pushType,
           sum(attempts)::bigint AS attempts, sum(latencyMsSum)::bigint AS latencyMsSum, sum(latencyCount)::bigint AS latencyCount
    FROM attemptRollups
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    -- An attempt that is no longer 'queued' leaves a row with zero attempts.
    HAVING sum(attempts) <> 0;

COMMENT ON VIEW attemptsPerMinute IS
    'attemptRollups summed over writerSlot and appMajor, with NULL where an attempt has no value. Filter by minute.';
COMMENT ON COLUMN attemptsPerMinute.minute IS 'The minute of attemptedAt.';
COMMENT ON COLUMN attemptsPerMinute.provider IS 'Provider of the attempts.';
COMMENT ON COLUMN attemptsPerMinute.platform IS 'Platform of the attempts.';
COMMENT ON COLUMN attemptsPerMinute.eventType IS 'What was attempted.';
COMMENT ON COLUMN attemptsPerMinute.status IS 'Status of the attempts.';
COMMENT ON COLUMN attemptsPerMinute.reasonCode IS 'Why the attempts failed; NULL if they have no reason.';
COMMENT ON COLUMN attemptsPerMinute.app IS 'App of the attempts; NULL if it was not reported, ''other'' if too many were.';
COMMENT ON COLUMN attemptsPerMinute.environment IS 'Environment of the attempts; NULL if it was not reported.';
COMMENT ON COLUMN attemptsPerMinute.pushType IS 'Type of the pushes; NULL if it was not reported, ''other'' if too many were.';
COMMENT ON COLUMN attemptsPerMinute.attempts IS 'Number of attempts.';
COMMENT ON COLUMN attemptsPerMinute.latencyMsSum IS 'Sum of latencyMs, in milliseconds.';
COMMENT ON COLUMN attemptsPerMinute.latencyCount IS 'Number of the attempts that have a latency.';

-- With the rights of its reader: grants on notificationDeliveryAttempts decide.
CREATE VIEW attemptLabels WITH (security_invoker = true) AS
    SELECT attemptedAt, date_trunc('minute', attemptedAt) AS minute, provider, platform, eventType, status,
           coalesce(reasonCode::text, '') AS reasonCode,
           CASE WHEN foldedLabels & 1 <> 0 THEN 'other' ELSE coalesce(app, '') END AS app,
           coalesce(environment::text, '') AS environment,
           CASE WHEN foldedLabels & 8 <> 0 THEN 'other' ELSE coalesce(pushType, '') END AS pushType,
           CASE WHEN foldedLabels & 2 <> 0 THEN 'other' ELSE pushAppMajor(appVersion) END AS appMajor,
           CASE WHEN foldedLabels & 2 <> 0 THEN 'other' ELSE coalesce(appVersion, '') END AS appVersion,
           CASE WHEN foldedLabels & 4 <> 0 THEN 'other' ELSE coalesce(providerErrorCode, '') END AS providerErrorCode,
           uid, tokenHash, 1 AS attempts
    FROM notificationDeliveryAttempts;

COMMENT ON VIEW attemptLabels IS
    'Each attempt with its labels as attemptRollups counts them, the exact version and the provider''s code. Filter by attemptedAt.';
COMMENT ON COLUMN attemptLabels.attemptedAt IS 'When the attempt was made.';
COMMENT ON COLUMN attemptLabels.minute IS 'The minute of attemptedAt. Computed: no index serves it.';
COMMENT ON COLUMN attemptLabels.provider IS 'Provider of the token.';
COMMENT ON COLUMN attemptLabels.platform IS 'Platform of the device.';
COMMENT ON COLUMN attemptLabels.eventType IS 'What was attempted.';
COMMENT ON COLUMN attemptLabels.status IS 'Latest status that was reported.';
COMMENT ON COLUMN attemptLabels.reasonCode IS 'Why the attempt failed; '''' if it has no reason.';
COMMENT ON COLUMN attemptLabels.app IS 'Bundle id or FCM app; '''' if it was not reported, ''other'' if it is folded.';
COMMENT ON COLUMN attemptLabels.environment IS 'Environment of the token; '''' if it was not reported.';
COMMENT ON COLUMN attemptLabels.pushType IS 'Type of the push; '''' if it was not reported, ''other'' if it is folded.';
COMMENT ON COLUMN attemptLabels.appMajor IS
    'The leading number of the app version; '''' if there is none, ''other'' if the version is folded.';
COMMENT ON COLUMN attemptLabels.appVersion IS
    'Version of the app on the device; '''' if it was not reported, ''other'' if it is folded.';
COMMENT ON COLUMN attemptLabels.providerErrorCode IS 'The provider''s own code; '''' if there is none, ''other'' if it is folded.';
COMMENT ON COLUMN attemptLabels.uid IS 'The user; ''channel:<matchId>'' for a broadcast to a match''s channel.';
COMMENT ON COLUMN attemptLabels.tokenHash IS '''sha256:'' and 64 hex digits.';
COMMENT ON COLUMN attemptLabels.attempts IS 'Always 1: the sum of it is the number of attempts, as in attemptRollups.';

-- Input of the built-in alert LabelsFolded.
CREATE TABLE foldedLabelDays (
    day      date        NOT NULL,
    author   text        NOT NULL,
    label    text        NOT NULL,
    attempts bigint      NOT NULL,
    foldedAt timestamptz NOT NULL,
    PRIMARY KEY (day, author, label)
);

COMMENT ON TABLE foldedLabelDays IS 'Authors of attempts that reported more values of a label than are counted apart. Kept for 30 days.';
COMMENT ON COLUMN foldedLabelDays.day IS 'The UTC day of attemptedAt.';
COMMENT ON COLUMN foldedLabelDays.author IS
    'Name of the API key, or ''pushwatch'' for attempts that Pushwatch made itself, or ''import''.';
COMMENT ON COLUMN foldedLabelDays.label IS 'app, appVersion, providerErrorCode or pushType.';
COMMENT ON COLUMN foldedLabelDays.attempts IS 'Number of attempts whose value is counted as ''other''.';
COMMENT ON COLUMN foldedLabelDays.foldedAt IS 'When the count was last increased.';

CREATE TABLE attemptImports (
    -- Digest of the file's size, its first megabyte and its last megabyte. An import of the same file under another name resumes.
    fileKey    uuid        PRIMARY KEY,
    fileName   text        NOT NULL,
    startedAt  timestamptz NOT NULL,
    updatedAt  timestamptz NOT NULL,
    -- Uncompressed bytes and lines that were read, then the lines by result.
    bytes      bigint      NOT NULL,
    lines      bigint      NOT NULL,
    accepted   bigint      NOT NULL,
    duplicate  bigint      NOT NULL,
    advanced   bigint      NOT NULL,
    conflict   bigint      NOT NULL,
    rejected   bigint      NOT NULL,
    -- Null until the import is complete; until then, another run resumes it.
    finishedAt timestamptz
);

COMMENT ON TABLE attemptImports IS 'Progress of each import of a file. One that is run again after it was complete counts anew.';

-- Distinguishes a minute in which no instance could write (a gap) from a minute without attempts.
CREATE TABLE writerHeartbeats (
    minute           timestamptz NOT NULL,
    writer           uuid        NOT NULL,
    reportedAt       timestamptz,
    uncommittedSince timestamptz,
    PRIMARY KEY (minute, writer)
);

-- Rows that transactions lock to take turns about a key (a token, an activity, a rate-limit pause): 1,024 of each of four kinds. Analysts
-- cannot lock them, as they could an advisory lock.
CREATE TABLE keyLocks (slot integer PRIMARY KEY);

INSERT INTO keyLocks SELECT generate_series(0, 3071);

COMMENT ON TABLE keyLocks IS 'Locked, never changed.';

-- What readiness is decided by: every instance writes its row every two seconds. It adds what it is every ten seconds.
CREATE TABLE instances (
    instance          uuid             PRIMARY KEY,
    at                timestamptz      NOT NULL,
    host              text,
    version           text,
    startedAt         timestamptz,
    roles             text[],
    credentials       jsonb,
    tokenKeys         text[],
    clockAheadSeconds double precision
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

COMMENT ON TABLE instances IS 'One row per instance, of its last day. It runs if `at` is of the last 30 seconds and `version` is not NULL.';
COMMENT ON COLUMN instances.instance IS 'Identifies the instance. A restarted instance is another one.';
COMMENT ON COLUMN instances.at IS 'When the instance last wrote its row, by the database''s clock. It does so every two seconds.';
COMMENT ON COLUMN instances.host IS 'Name of its host; NULL until its first report.';
COMMENT ON COLUMN instances.version IS 'Version of Pushwatch; NULL until its first report and after its end.';
COMMENT ON COLUMN instances.startedAt IS 'When it started, by its own clock; NULL until its first report.';
COMMENT ON COLUMN instances.roles IS 'Its roles: api, send, alert, live; NULL until its first report.';
COMMENT ON COLUMN instances.credentials IS
    'Array of objects: name, id (changes with the key), provider, fault (why its newest file is not in use), acceptedAt; NULL until its first report.';
COMMENT ON COLUMN instances.tokenKeys IS
    'Ids of its keys for push tokens, the one that it encrypts with first; empty without keys; NULL until its first report.';
COMMENT ON COLUMN instances.clockAheadSeconds IS
    'Seconds that its clock is ahead of the database''s; negative if it is behind; NULL until its first report.';

COMMENT ON TABLE writerHeartbeats IS 'One row per minute and instance that ingests or sends. Kept for 30 days.';
COMMENT ON COLUMN writerHeartbeats.minute IS 'A minute in which the instance could write to this database.';
COMMENT ON COLUMN writerHeartbeats.writer IS 'One process. A restarted instance is another writer.';
COMMENT ON COLUMN writerHeartbeats.reportedAt IS 'The writer''s clock at its latest heartbeat of this minute.';
COMMENT ON COLUMN writerHeartbeats.uncommittedSince IS
    'Time of the oldest outcome that the writer has not committed; NULL if there is none. Alert rules wait for it.';

-- Input of the alert rules with the condition `first_sight`.
CREATE TABLE providerCodeDays (
    day      date             NOT NULL,
    provider text             NOT NULL,
    code     text COLLATE "C" NOT NULL,
    firstAt  timestamptz      NOT NULL,
    attempts bigint           NOT NULL,
    PRIMARY KEY (day, provider, code)
);

COMMENT ON TABLE providerCodeDays IS 'Days on which a provider responded with a code that maps to no reason.';
COMMENT ON COLUMN providerCodeDays.day IS 'The UTC day of attemptedAt.';
COMMENT ON COLUMN providerCodeDays.provider IS 'Provider of the attempts.';
COMMENT ON COLUMN providerCodeDays.code IS 'The provider''s code; ''other'' if it is folded.';
COMMENT ON COLUMN providerCodeDays.firstAt IS 'First minute of the day with the code.';
COMMENT ON COLUMN providerCodeDays.attempts IS 'Number of attempts with the code in that minute.';
