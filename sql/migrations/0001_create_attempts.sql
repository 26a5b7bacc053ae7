-- Attempts: the contract's table, the ledger that decides who is new, and the rollups per minute.
--
-- Lock: none on existing data; creates only.
--
-- The shape follows measurements (docs/decisions/0003-ledger-facts-rollups.md):
--   * the ledger holds one row per attemptId, keyed by a 128-bit digest, in generations of which the two newest live;
--   * facts are partitioned by the day of attemptedAt, without a default partition, and leave by dropping partitions;
--   * rollups are written in the same transaction as the facts, so they equal a recount in every snapshot.
-- Every unique key of ledger and facts holds attemptKey, and no foreign key, trigger or sub-partition stands on them, so that the
-- same schema can be distributed later.

CREATE TYPE pushPlatform AS ENUM ('ios', 'android', 'web');
CREATE TYPE pushProvider AS ENUM ('apns', 'fcm');
CREATE TYPE pushEventType AS ENUM ('register', 'unregister', 'send');
-- In the order of progress: queued, then sent or failed, then deactivated.
CREATE TYPE pushStatus AS ENUM ('queued', 'sent', 'failed', 'deactivated');
CREATE TYPE pushReason AS ENUM ('token_invalid', 'token_not_registered', 'provider_5xx', 'network', 'auth', 'unknown');
CREATE TYPE pushEnvironment AS ENUM ('production', 'sandbox');

CREATE TABLE notificationDeliveryAttempts (
    attemptId         text COLLATE "C" NOT NULL,
    uid               text NOT NULL,
    platform          pushPlatform NOT NULL,
    provider          pushProvider NOT NULL,
    tokenHash         text COLLATE "C" NOT NULL,
    eventType         pushEventType NOT NULL,
    status            pushStatus NOT NULL,
    reasonCode        pushReason,
    providerErrorCode text,
    attemptedAt       timestamptz NOT NULL,
    requestId         text COLLATE "C" NOT NULL,
    app               text,
    environment       pushEnvironment,
    pushType          text,
    appVersion        text,
    providerMessageId text,
    latencyMs         integer,
    sendId            text COLLATE "C",
    receivedAt        timestamptz NOT NULL,
    -- The first 16 bytes of sha256(attemptId): in SQL, substring(sha256(convert_to(attemptId, 'UTF8')) for 16).
    attemptKey        uuid NOT NULL,
    -- Time leads, so the key is the analysts' time index as well and grows at its right edge.
    PRIMARY KEY (attemptedAt, attemptKey)
) PARTITION BY RANGE (attemptedAt);

COMMENT ON TABLE notificationDeliveryAttempts IS 'One row per attemptId: one try at one token.';
COMMENT ON COLUMN notificationDeliveryAttempts.tokenHash IS 'sha256: and 64 hex digits; never a raw token.';
COMMENT ON COLUMN notificationDeliveryAttempts.attemptedAt IS 'When the try was made (UTC); of the first report that was stored.';
COMMENT ON COLUMN notificationDeliveryAttempts.receivedAt IS 'When Pushwatch first stored the attempt.';
COMMENT ON COLUMN notificationDeliveryAttempts.latencyMs IS 'Milliseconds from the request''s start to the provider''s answer.';

-- Who is this person, and what happened to them: one index a day.
CREATE INDEX notificationDeliveryAttempts_uid ON notificationDeliveryAttempts (uid, attemptedAt);

CREATE TABLE attemptLedger (
    attemptKey  uuid NOT NULL,
    generation  integer NOT NULL,
    -- Digest of uid, platform, provider, tokenHash, eventType and requestId: tells a resend from a reuse of the id.
    fingerprint uuid NOT NULL,
    attemptedAt timestamptz NOT NULL,
    status      pushStatus NOT NULL,
    PRIMARY KEY (attemptKey, generation)
) PARTITION BY LIST (generation);

COMMENT ON TABLE attemptLedger IS 'Which attemptIds are known, for at least 8 days; the newest generation takes new ones.';

-- Writers read this row first in their transaction; the rotator locks the table exclusively to switch generations.
CREATE TABLE ledgerState (
    id                 smallint PRIMARY KEY CHECK (id = 1),
    currentGeneration  integer NOT NULL,
    previousGeneration integer NOT NULL,
    rotatedAt          timestamptz NOT NULL
);

INSERT INTO ledgerState VALUES (1, 1, 0, now());
CREATE TABLE attemptLedger_0 PARTITION OF attemptLedger FOR VALUES IN (0);
CREATE TABLE attemptLedger_1 PARTITION OF attemptLedger FOR VALUES IN (1);

CREATE TABLE attemptRollups (
    -- The minute of attemptedAt.
    minute       timestamptz NOT NULL,
    provider     pushProvider NOT NULL,
    platform     pushPlatform NOT NULL,
    eventType    pushEventType NOT NULL,
    status       pushStatus NOT NULL,
    -- '' where the attempt has none: a key column cannot be null.
    reasonCode   text COLLATE "C" NOT NULL,
    app          text COLLATE "C" NOT NULL,
    environment  text COLLATE "C" NOT NULL,
    pushType     text COLLATE "C" NOT NULL,
    -- Which writer counted: writers never wait for each other's rows. Readers sum over it.
    writerSlot   smallint NOT NULL,
    attempts     bigint NOT NULL,
    latencyMsSum bigint NOT NULL,
    -- How many of the attempts had a latency.
    latencyCount bigint NOT NULL,
    PRIMARY KEY (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, writerSlot)
) PARTITION BY RANGE (minute);

COMMENT ON TABLE attemptRollups IS 'Attempts per minute and dimension; the sum over writerSlot equals a count over the attempts.';
