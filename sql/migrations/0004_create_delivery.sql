-- Delivery: sends, their deliveries, the durable queue, and the state of the send gate.
--
-- Locks: none on existing data.
--
-- A send has one delivery for each device; starts and ends of Live Activities are deliveries, too. A delivery is in exactly one of five
-- places: pushReady, pushScheduled, pushLeases (in pushLeasedDeliveries), pushFinished (a view of pushFinishedSingles and pushOutcomes) or
-- pushDead. Rows of pushReady are only inserted and deleted, in order within a queue, and can all be claimed now. Thus a claim reads a
-- short range of its primary key, regardless of how much else is stored and which old snapshots are open.
--
-- The send gate reads pushCircuits, pushRateLimitPauses and pushThrottles.

CREATE TYPE pushPolicy AS ENUM ('at_least_once', 'at_most_once');
COMMENT ON TYPE pushPolicy IS 'What to do after an unknown outcome: at_least_once sends again, at_most_once does not.';
CREATE TYPE pushClass AS ENUM ('critical', 'high', 'normal', 'bulk');
COMMENT ON TYPE pushClass IS 'Urgency of a send, in the order in which they are served.';

-- Workers are shared between queues by weight.
CREATE TABLE pushQueues (
    queue       integer          GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app         text COLLATE "C" NOT NULL,
    provider    pushProvider     NOT NULL,
    environment pushEnvironment  NOT NULL,
    class       pushClass        NOT NULL,
    UNIQUE (app, provider, environment, class)
);

COMMENT ON TABLE pushQueues IS 'One row per queue: app, provider, environment and class.';
COMMENT ON COLUMN pushQueues.queue IS 'Number of the queue.';
COMMENT ON COLUMN pushQueues.app IS 'Bundle id or FCM app.';
COMMENT ON COLUMN pushQueues.provider IS 'Provider that it sends to.';
COMMENT ON COLUMN pushQueues.environment IS 'Environment that it sends to.';
COMMENT ON COLUMN pushQueues.class IS 'Class of its sends. Workers are shared between queues by weight.';

-- What has a fixed size is first, here and in pushDeliveries: it needs no padding there.
CREATE TABLE pushSends (
    createdAt   timestamptz      NOT NULL,
    expiresAt   timestamptz      NOT NULL,
    notBefore   timestamptz,
    class       pushClass        NOT NULL,
    policy      pushPolicy       NOT NULL,
    sendId      text COLLATE "C" PRIMARY KEY,
    -- The first 16 bytes of the SHA-256 of the request's canonical JSON. Distinguishes a repeated request from a reuse of the sendId.
    contentHash bytea            NOT NULL,
    requestId   text COLLATE "C" NOT NULL,
    author      text             NOT NULL,
    -- JSON: title, body, data, apns, fcm, pushType, collapseId, priority: the input of the provider request. Read by workers only, so it is
    -- not parsed when it is written.
    content     text             NOT NULL,
    skipped     text
);

CREATE INDEX pushSends_createdAt ON pushSends USING brin (createdAt);

COMMENT ON TABLE pushSends IS 'What callers asked for. Only expiresAt changes, when dead letters are retried.';
COMMENT ON COLUMN pushSends.sendId IS 'Identifies the send.';
COMMENT ON COLUMN pushSends.requestId IS 'The request that asked for it.';
COMMENT ON COLUMN pushSends.author IS 'Who asked for it: the name of an API key or a person, or ''pushwatch live'' or ''pushwatch prematch''.';
COMMENT ON COLUMN pushSends.class IS 'Its class.';
COMMENT ON COLUMN pushSends.policy IS 'Whether it may be sent again after an unknown outcome.';
COMMENT ON COLUMN pushSends.createdAt IS 'When it was stored.';
COMMENT ON COLUMN pushSends.notBefore IS 'When it is to be sent at the earliest; NULL for at once.';
COMMENT ON COLUMN pushSends.expiresAt IS 'When it is no longer attempted.';
COMMENT ON COLUMN pushSends.skipped IS
    'JSON as text: the targets that it does not go to, as they were counted when it was accepted; NULL if there are none.';
COMMENT ON COLUMN pushSends.content IS 'The content of the push. Never to be granted to analysts.';

CREATE TABLE pushDeliveries (
    deliveryId  bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    createdAt   timestamptz      NOT NULL,
    -- Only if kind is set; otherwise in pushSends.
    expiresAt   timestamptz,
    queue       integer          NOT NULL,
    platform    pushPlatform     NOT NULL,
    sendId      text COLLATE "C",
    kind        text COLLATE "C",
    -- Identifies the delivery to that feature, together with uid and deviceId.
    ownerKey    text COLLATE "C",
    uid         text COLLATE "C" NOT NULL,
    deviceId    text COLLATE "C",
    -- Only for a send to a token.
    pushToken   bytea,
    tokenHash   bytea,
    -- Of a send with a collapseId: the row of pushNewest.
    collapseKey bytea,
    CHECK ((sendId IS NULL) = (kind IS NOT NULL)),
    CHECK ((kind IS NULL) = (ownerKey IS NULL)),
    CHECK ((kind IS NULL) = (expiresAt IS NULL)),
    CHECK ((deviceId IS NULL) = (pushToken IS NOT NULL)),
    CHECK ((pushToken IS NULL AND kind IS NULL) = (tokenHash IS NULL))
);

CREATE INDEX pushDeliveries_sendId ON pushDeliveries (sendId);
CREATE INDEX pushDeliveries_createdAt ON pushDeliveries USING brin (createdAt);
CREATE INDEX pushDeliveries_kind ON pushDeliveries (createdAt) WHERE sendId IS NULL;
CREATE INDEX pushDeliveries_uid ON pushDeliveries (uid, createdAt);

COMMENT ON TABLE pushDeliveries IS
    'One row per send and device (or token), and per start or end of a Live Activity. Rows are never updated.';
COMMENT ON COLUMN pushDeliveries.deliveryId IS 'Number of the delivery.';
COMMENT ON COLUMN pushDeliveries.sendId IS 'The send; NULL for a delivery of Live Activities.';
COMMENT ON COLUMN pushDeliveries.kind IS
    'liveStart or liveEnd: the start or end of a Live Activity; liveAlert: an alert that a device was not sent, stored when it has ended, never attempted; NULL for a delivery of a send.';
COMMENT ON COLUMN pushDeliveries.queue IS 'Queue of the delivery: its app, provider and environment are in pushQueues.';
COMMENT ON COLUMN pushDeliveries.uid IS 'The user.';
COMMENT ON COLUMN pushDeliveries.deviceId IS 'The device; NULL for a send to a token.';
COMMENT ON COLUMN pushDeliveries.platform IS 'Platform of the device.';
COMMENT ON COLUMN pushDeliveries.tokenHash IS
    'Hash of the token of a send to a token, or of the one that a delivery with a kind was stored for: its 32 bytes. In other tables it is the text ''sha256:'' || encode(tokenHash, ''hex''). NULL for a send to a device, whose token is looked up at the time of the attempt.';
COMMENT ON COLUMN pushDeliveries.createdAt IS 'When it was stored.';
COMMENT ON COLUMN pushDeliveries.pushToken IS 'The encrypted token of a send to a token: a byte 1, the length of the key''s id, the id, nonce, ciphertext and tag. Never to be granted to analysts, logged or shown.';

-- Of the deliveries with one collapseId to one device (or token) only the newest is attempted. Of those to one device, or to one token that
-- callers name, a newer delivery has a greater deliveryId, since it is taken under the lock of the row.
CREATE FUNCTION pushCollapseKey(
    provider pushProvider, app text, environment pushEnvironment, uid text, deviceId text, tokenHash text, collapseId text
) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE RETURN substring(sha256(convert_to(
    concat_ws(E'\n', provider::text, app, environment::text, coalesce('device' || E'\n' || uid || E'\n' || deviceId, tokenHash), collapseId),
    'UTF8')) FOR 16);

COMMENT ON FUNCTION pushCollapseKey IS 'What identifies the deliveries that replace each other: by device, or by token if deviceId is null.';

CREATE TABLE pushNewest (
    -- From pushCollapseKey. A delivery to a device uses two rows: that of the device, and while it is attempted that of its token.
    collapseKey   bytea       PRIMARY KEY,
    -- The newest delivery, and the one that it replaced.
    deliveryId    bigint      NOT NULL,
    replaced      bigint,
    -- The caller's order, if it has one: a send with a lower version does not become the newest.
    version       bigint,
    -- Up to this deliveryId deliveries are older, whatever their version: one without a version came after them.
    versionsSince bigint,
    -- Of a send that is stored in portions: pushFanOuts.acceptedAs. It is older than what was stored after it was accepted.
    acceptedAs    bigint,
    -- The delivery that is being attempted. Newer ones wait until its outcome is written, or until inFlightUntil.
    inFlight      bigint,
    inFlightUntil timestamptz,
    -- No delivery of the key lives longer.
    expiresAt     timestamptz NOT NULL
) WITH (fillfactor = 80);

COMMENT ON TABLE pushNewest IS 'The newest delivery for each collapseId and device or token.';

CREATE TABLE pushReady (
    queue         integer     NOT NULL,
    seq           bigint      GENERATED ALWAYS AS IDENTITY,
    deliveryId    bigint      NOT NULL,
    attemptNumber integer     NOT NULL,
    readyAt       timestamptz NOT NULL,
    PRIMARY KEY (queue, seq)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX pushReady_deliveryId ON pushReady (deliveryId);

COMMENT ON TABLE pushReady IS 'Deliveries that can be claimed now.';
COMMENT ON COLUMN pushReady.queue IS 'Queue of the delivery, in pushQueues.';
COMMENT ON COLUMN pushReady.deliveryId IS 'The delivery, in pushDeliveries.';
COMMENT ON COLUMN pushReady.attemptNumber IS 'Number of the next attempt, from 1.';
COMMENT ON COLUMN pushReady.readyAt IS 'When it became ready.';

CREATE TABLE pushScheduled (
    deliveryId    bigint      PRIMARY KEY,
    queue         integer     NOT NULL,
    runAt         timestamptz NOT NULL,
    attemptNumber integer     NOT NULL,
    reasonCode    pushReason,
    circuitId     bigint
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX pushScheduled_runAt ON pushScheduled (runAt);
-- Probes and releases, by class; deliveries that were refused under a circuit; retries to release after an outage.
CREATE INDEX pushScheduled_circuitId ON pushScheduled (circuitId, queue, attemptNumber, deliveryId) WHERE circuitId IS NOT NULL;
CREATE INDEX pushScheduled_refused ON pushScheduled (circuitId) WHERE circuitId IS NOT NULL AND attemptNumber > 1;
CREATE INDEX pushScheduled_retrying ON pushScheduled (queue, deliveryId)
    WHERE circuitId IS NULL AND reasonCode IS NOT NULL;

COMMENT ON TABLE pushScheduled IS 'Deliveries that can be claimed later: not due yet, waiting for a retry, or blocked by an open circuit.';
COMMENT ON COLUMN pushScheduled.deliveryId IS 'The delivery, in pushDeliveries.';
COMMENT ON COLUMN pushScheduled.queue IS 'Queue of the delivery, in pushQueues.';
COMMENT ON COLUMN pushScheduled.runAt IS 'When it can be claimed; the expiry of the send if circuitId is not NULL.';
COMMENT ON COLUMN pushScheduled.attemptNumber IS 'Number of the next attempt, from 1.';
COMMENT ON COLUMN pushScheduled.reasonCode IS
    'Reason of the failed attempt before a retry; NULL for a delivery that is not due yet.';
COMMENT ON COLUMN pushScheduled.circuitId IS
    'The open circuit that blocks the delivery: closing it makes the delivery due; NULL if none does.';

CREATE SEQUENCE pushLeaseTokens;

-- One row for the deliveries that were leased by one statement. Its worker may change them only while the row is here.
--
-- The row is deleted in the transaction that writes the last of their outcomes. Until then, those that have an outcome are in released: the
-- others are being sent (pushLeasedDeliveries).
CREATE TABLE pushLeases (
    -- From pushLeaseTokens.
    leaseToken     bigint      PRIMARY KEY,
    worker         text        NOT NULL,
    claimedAt      timestamptz NOT NULL,
    leaseUntil     timestamptz NOT NULL,
    probeOf        bigint,
    deliveryIds    bigint[]    NOT NULL,
    attemptNumbers integer[]   NOT NULL,
    -- Of the devices' tokens at the time of the claim, without prefix; null where there was none. Other tokens are in pushDeliveries.
    tokenHashes    bytea[]     NOT NULL,
    released       bigint[]    NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 10000);

-- To compress what lasts for a second takes longer than to write it.
ALTER TABLE pushLeases ALTER COLUMN deliveryIds SET STORAGE EXTERNAL, ALTER COLUMN attemptNumbers SET STORAGE EXTERNAL,
    ALTER COLUMN tokenHashes SET STORAGE EXTERNAL, ALTER COLUMN released SET STORAGE EXTERNAL;
CREATE INDEX pushLeases_leaseUntil ON pushLeases (leaseUntil);

COMMENT ON TABLE pushLeases IS 'Deliveries that a worker is sending: one row for those that it leased together.';
COMMENT ON COLUMN pushLeases.worker IS 'The process that is sending: host, process id and a random number.';
COMMENT ON COLUMN pushLeases.claimedAt IS 'When it leased them.';
COMMENT ON COLUMN pushLeases.leaseUntil IS 'When others may lease them again, unless the worker extends it.';
COMMENT ON COLUMN pushLeases.probeOf IS 'The circuit that the only delivery is the probe of; NULL if it is no probe.';
COMMENT ON COLUMN pushLeases.deliveryIds IS 'The deliveries, in pushDeliveries.';
COMMENT ON COLUMN pushLeases.attemptNumbers IS 'Number of the attempt of each, from 1.';
COMMENT ON COLUMN pushLeases.released IS
    'Deliveries of them that have their outcome: they have ended, or wait for another attempt or for their first one.';

-- Pushes that no lease or claim protects are recorded here before they are sent, so that a push has its attempt even if the process ends
-- before it can write the outcome.
--
-- A row is deleted in the transaction that writes the last outcome of its group. After two minutes, the pushes of a row that is left become
-- attempts with an unknown outcome. There are at most a few dozen rows.
CREATE TABLE pushIntents (
    -- The process, with a new name after each restart, and the number of the group in it.
    owner          text COLLATE "C" NOT NULL,
    number         bigint           NOT NULL,
    startedAt      timestamptz      NOT NULL DEFAULT clock_timestamp(),
    -- Each array has one element per push.
    uids           text[]           NOT NULL,
    platforms      text[]           NOT NULL,
    providers      text[]           NOT NULL,
    environments   text[]           NOT NULL,
    apps           text[]           NOT NULL,
    tokenHashes    text[]           NOT NULL,
    operationKeys  text[]           NOT NULL,
    attemptNumbers integer[]        NOT NULL,
    requestIds     text[]           NOT NULL,
    pushTypes      text[]           NOT NULL,
    PRIMARY KEY (owner, number)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 10000);

COMMENT ON TABLE pushIntents IS 'Pushes that are being sent without a lease: one row for each group that is sent together. Internal.';

-- Not deliveries that were sent with others at their first attempt: those are in pushOutcomes.
CREATE TABLE pushFinishedSingles (
    deliveryId        bigint      PRIMARY KEY,
    queue             integer     NOT NULL,
    outcome           text        NOT NULL CHECK (outcome IN ('sent', 'cancelled', 'superseded')),
    attempts          integer     NOT NULL,
    providerMessageId text,
    finishedAt        timestamptz NOT NULL
);

CREATE INDEX pushFinishedSingles_finishedAt ON pushFinishedSingles USING brin (finishedAt);

COMMENT ON TABLE pushFinishedSingles IS
    'Deliveries that finished without others at their first attempt, that were attempted more than once, or that were not sent. Use pushFinished.';
COMMENT ON COLUMN pushFinishedSingles.deliveryId IS 'The delivery, in pushDeliveries.';
COMMENT ON COLUMN pushFinishedSingles.queue IS 'Queue of the delivery, in pushQueues.';
COMMENT ON COLUMN pushFinishedSingles.outcome IS
    'sent; cancelled; or superseded: a newer delivery with the same collapseId replaced it.';
COMMENT ON COLUMN pushFinishedSingles.attempts IS
    'Number of attempts made. Each has a row in notificationDeliveryAttempts. Of a liveStart including those of earlier starts of the activity.';
COMMENT ON COLUMN pushFinishedSingles.providerMessageId IS 'The provider''s id of the push; NULL if there is none.';
COMMENT ON COLUMN pushFinishedSingles.finishedAt IS 'When it ended.';

CREATE TABLE pushDead (
    deliveryId        bigint      PRIMARY KEY,
    queue             integer     NOT NULL,
    outcome           text        NOT NULL CHECK (outcome IN ('failed', 'expired', 'unreachable')),
    attempts          integer     NOT NULL,
    reasonCode        pushReason,
    providerErrorCode text,
    finishedAt        timestamptz NOT NULL
);

CREATE INDEX pushDead_finishedAt ON pushDead USING brin (finishedAt);
-- Dead letters of the last days, newest first.
CREATE INDEX pushDead_recent ON pushDead (finishedAt DESC, deliveryId);

COMMENT ON TABLE pushDead IS 'Dead letters: deliveries that ended without success.';
COMMENT ON COLUMN pushDead.deliveryId IS 'The delivery, in pushDeliveries.';
COMMENT ON COLUMN pushDead.queue IS 'Queue of the delivery, in pushQueues.';
COMMENT ON COLUMN pushDead.outcome IS
    'failed: a permanent rejection, or an unknown outcome that must not be repeated; expired; unreachable: no token that may be used, with DeviceNotRegistered, TokenInactive, TokenSuspect or TokenUnreadable as providerErrorCode.';
COMMENT ON COLUMN pushDead.attempts IS 'Number of attempts made.';
COMMENT ON COLUMN pushDead.reasonCode IS 'Reason of the last failed attempt; NULL if there is none.';
COMMENT ON COLUMN pushDead.providerErrorCode IS
    'Code of the last failed attempt, or why there is no usable token; NULL if there is none.';
COMMENT ON COLUMN pushDead.finishedAt IS 'When it ended.';

-- With the rights of its owner: who may read it needs none on the tables.
CREATE VIEW pushLeasedDeliveries AS
    SELECT deliveryId, delivery.queue, leased.attemptNumber,
           'sha256:' || encode(coalesce(leased.tokenHash, delivery.tokenHash), 'hex') AS tokenHash,
           lease.leaseToken, lease.worker, lease.claimedAt, lease.leaseUntil, lease.probeOf
    FROM pushLeases AS lease
    CROSS JOIN unnest(lease.deliveryIds, lease.attemptNumbers, lease.tokenHashes) AS leased (deliveryId, attemptNumber, tokenHash)
    JOIN pushDeliveries AS delivery USING (deliveryId)
    WHERE deliveryId <> ALL (lease.released);

COMMENT ON VIEW pushLeasedDeliveries IS 'One row per delivery that a worker is sending. A condition on leaseUntil is looked up in an index.';
COMMENT ON COLUMN pushLeasedDeliveries.deliveryId IS 'The delivery, in pushDeliveries.';
COMMENT ON COLUMN pushLeasedDeliveries.queue IS 'Queue of the delivery, in pushQueues.';
COMMENT ON COLUMN pushLeasedDeliveries.attemptNumber IS 'Number of the attempt that is being made, from 1.';
COMMENT ON COLUMN pushLeasedDeliveries.worker IS 'The process that is sending it.';
COMMENT ON COLUMN pushLeasedDeliveries.claimedAt IS 'When it leased the delivery.';
COMMENT ON COLUMN pushLeasedDeliveries.leaseUntil IS 'When others may lease the delivery again.';
COMMENT ON COLUMN pushLeasedDeliveries.probeOf IS 'The circuit that it is the probe of; NULL if it is no probe.';

-- Ready deliveries of a cancelled send leave the queue when they are claimed, so that cancelling never searches pushReady.
CREATE TABLE pushCancels (
    sendId          text COLLATE "C" PRIMARY KEY,
    author          text             NOT NULL,
    cancelledAt     timestamptz      NOT NULL,
    -- Scheduled deliveries are ended in portions. Those after afterDeliveryId may be left; it is null once none is. They end with
    -- lastDeliveryId, which the first portion finds.
    afterDeliveryId bigint,
    lastDeliveryId  bigint
);

CREATE INDEX pushCancels_cancelledAt ON pushCancels (cancelledAt) WHERE afterDeliveryId IS NOT NULL;

COMMENT ON TABLE pushCancels IS 'Sends that were cancelled.';

-- A send to many people is stored in portions: each transaction stores the deliveries of the next people and advances afterUid. The last
-- one deletes the row, as cancelling does. Who stores a portion locks the row, and skips those that are locked.
CREATE TABLE pushFanOuts (
    sendId       text COLLATE "C" PRIMARY KEY,
    -- The audience, or the devices that another feature selects, as JSON.
    audienceId   text COLLATE "C",
    selection    text,
    -- Only devices of this app; null: of any.
    app          text COLLATE "C",
    -- The kinds of devices that the send goes to. Each array has one element per kind.
    providers    text[]           NOT NULL,
    platforms    text[]           NOT NULL,
    environments text[]           NOT NULL,
    apps         text[]           NOT NULL,
    -- How many devices there were when the send was accepted.
    devices      bigint           NOT NULL,
    collapseId   text,
    version      bigint,
    -- A deliveryId of its own: where it stands among the deliveries with its collapseId.
    acceptedAs   bigint           NOT NULL,
    -- People up to here have their deliveries.
    afterUid     text COLLATE "C" NOT NULL DEFAULT '',
    storedAt     timestamptz      NOT NULL DEFAULT clock_timestamp(),
    CHECK ((audienceId IS NULL) <> (selection IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX pushFanOuts_audienceId ON pushFanOuts (audienceId);

COMMENT ON TABLE pushFanOuts IS 'Sends to many people of which not all deliveries are stored yet. Internal.';

-- What senders are to learn: one row for each transaction that stored, attempted or ended deliveries of sends.
--
-- Readers need an order in which nothing appears before what they have read, and rows commit in any order. So committed rows are numbered
-- by their readers, under the lock of pushOutcomeNumbers.
CREATE TABLE pushOutcomes (
    outcomeId bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number    bigint      UNIQUE,
    writtenAt timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- JSON: an array of objects with event, sendId and what belongs to the event. docs/openapi.yaml, SendOutcome. Written for each send and
    -- hardly ever read, so it is not parsed when it is written.
    outcomes  text        NOT NULL,
    -- How many events: at most 250. A transaction with more writes several rows.
    count     integer     NOT NULL,
    -- Deliveries of sends that were sent together at their first attempt, in ascending order: pushFinished has them from here. Such a row
    -- has no events in outcomes. Each array has one element per delivery; the ids of attempts are 64 hex digits, here as bytes. A message
    -- id is NULL where it is the apns-id that pushAPNsId derives, and empty where there is none.
    sent           bigint[],
    sentQueues     integer[],
    sentAttemptIds bytea[],
    sentMessageIds text[],
    -- The first and the last of sent, less than 16384 apart.
    firstSent bigint,
    lastSent  bigint,
    CHECK (lastSent - firstSent < 16384)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);

-- Of the time that it takes to write a row, pglz would need half.
DO $$
BEGIN
    ALTER TABLE pushOutcomes ALTER COLUMN outcomes SET COMPRESSION lz4, ALTER COLUMN sent SET COMPRESSION lz4,
        ALTER COLUMN sentQueues SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    RAISE NOTICE 'This server was built without lz4: pushOutcomes is compressed with pglz.';
END
$$;

CREATE INDEX pushOutcomes_unnumbered ON pushOutcomes (outcomeId) WHERE number IS NULL;
CREATE INDEX pushOutcomes_lastSent ON pushOutcomes (lastSent) WHERE lastSent IS NOT NULL;
CREATE INDEX pushOutcomes_writtenAt ON pushOutcomes USING brin (writtenAt);

-- Digests and random ids cannot be compressed, and statistics of what is in arrays help no query.
ALTER TABLE pushOutcomes ALTER COLUMN sentAttemptIds SET STORAGE EXTERNAL, ALTER COLUMN sentMessageIds SET STORAGE EXTERNAL,
    ALTER COLUMN sent SET STATISTICS 0, ALTER COLUMN sentQueues SET STATISTICS 0, ALTER COLUMN sentAttemptIds SET STATISTICS 0,
    ALTER COLUMN sentMessageIds SET STATISTICS 0;

COMMENT ON TABLE pushOutcomes IS
    'Outcomes of sends, in the order of GET /sends/outcomes. Internal: pushFinished and pushDeliveryStates read it.';
COMMENT ON COLUMN pushOutcomes.writtenAt IS 'When it was written.';
COMMENT ON COLUMN pushOutcomes.sent IS
    'Deliveries that were sent together at their first attempt, in ascending order; NULL if the row has none.';
COMMENT ON COLUMN pushOutcomes.firstSent IS 'The first of them.';
COMMENT ON COLUMN pushOutcomes.lastSent IS 'The last of them.';

-- As APNsMessageId in the server derives it.
CREATE FUNCTION pushAPNsId(operationKey text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (
    SELECT encode(set_byte(set_byte(digest, 6, get_byte(digest, 6) & 15 | 128), 8, get_byte(digest, 8) & 63 | 128), 'hex')::uuid::text
    FROM (SELECT substring(sha256(convert_to(operationKey, 'UTF8')) FOR 16)) AS hashed (digest));

COMMENT ON FUNCTION pushAPNsId IS
    'The apns-id of a push: a UUID of version 8 from the SHA-256 of what identifies it: the sendId, a colon, and the deviceId or the token''s hash.';

-- With the rights of its owner: who may read it needs none on the tables.
CREATE VIEW pushFinished AS
    SELECT deliveryId, queue, outcome, attempts, finishedAt FROM pushFinishedSingles
    UNION ALL
    SELECT finished.deliveryId, finished.queue, 'sent', 1, outcomes.writtenAt
    FROM pushOutcomes AS outcomes CROSS JOIN LATERAL unnest(outcomes.sent, outcomes.sentQueues) AS finished (deliveryId, queue)
    WHERE outcomes.lastSent IS NOT NULL;

COMMENT ON VIEW pushFinished IS
    'One row per delivery that was sent, cancelled, or replaced by a newer one with the same collapseId. Filter by finishedAt: single deliveries are found by pushDeliveryStates.';
COMMENT ON COLUMN pushFinished.deliveryId IS 'The delivery, in pushDeliveries.';
COMMENT ON COLUMN pushFinished.queue IS 'Queue of the delivery, in pushQueues.';
COMMENT ON COLUMN pushFinished.outcome IS 'sent; cancelled; or superseded: a newer delivery with the same collapseId replaced it.';
COMMENT ON COLUMN pushFinished.attempts IS
    'Number of attempts made. Each has a row in notificationDeliveryAttempts. Of a liveStart including those of earlier starts of the activity.';
COMMENT ON COLUMN pushFinished.finishedAt IS 'When it ended.';

CREATE VIEW pushDeliveryStates WITH (security_invoker = true) AS
    SELECT delivery.deliveryId, delivery.sendId, delivery.kind, delivery.uid, delivery.deviceId, delivery.platform, queue.provider,
           queue.environment, queue.app, delivery.createdAt,
           -- A delivery is in exactly one of five places. If its lease has run out, it is ready.
           CASE WHEN finished.deliveryId IS NOT NULL THEN finished.outcome
                WHEN dead.deliveryId IS NOT NULL THEN dead.outcome
                WHEN leased.deliveryId IS NOT NULL THEN 'sending'
                WHEN scheduled.circuitId IS NOT NULL THEN 'blocked'
                WHEN scheduled.deliveryId IS NOT NULL THEN 'scheduled'
                WHEN together.isSent THEN 'sent'
                ELSE 'ready' END AS state,
           coalesce(finished.attempts, dead.attempts, scheduled.attemptNumber - 1, ready.attemptNumber - 1, leased.attemptNumber - 1,
               CASE WHEN together.isSent THEN 1 END) AS attempts,
           coalesce(dead.reasonCode, scheduled.reasonCode) AS reasonCode, dead.providerErrorCode,
           -- Looked up only where it is asked for: numbers of deliveries that are sent together are near each other.
           coalesce(finished.finishedAt, dead.finishedAt, CASE WHEN together.isSent THEN (
               SELECT outcomes.writtenAt FROM pushOutcomes AS outcomes
               WHERE outcomes.lastSent >= delivery.deliveryId AND outcomes.lastSent < delivery.deliveryId + 16384
                 AND outcomes.firstSent <= delivery.deliveryId AND delivery.deliveryId = ANY (outcomes.sent)
               ORDER BY outcomes.lastSent LIMIT 1) END) AS finishedAt,
           CASE WHEN scheduled.circuitId IS NULL THEN scheduled.runAt END AS nextAttemptAt
    FROM pushDeliveries AS delivery
    JOIN pushQueues AS queue ON queue.queue = delivery.queue
    LEFT JOIN pushFinishedSingles AS finished ON finished.deliveryId = delivery.deliveryId
    LEFT JOIN pushDead AS dead ON dead.deliveryId = delivery.deliveryId
    LEFT JOIN pushScheduled AS scheduled ON scheduled.deliveryId = delivery.deliveryId
    LEFT JOIN pushReady AS ready ON ready.deliveryId = delivery.deliveryId
    LEFT JOIN pushLeasedDeliveries AS leased ON leased.deliveryId = delivery.deliveryId AND leased.leaseUntil > statement_timestamp()
    CROSS JOIN LATERAL (
        -- What is in no other place was sent with others. Leases that have run out, which are few, are read once.
        SELECT finished.deliveryId IS NULL AND dead.deliveryId IS NULL AND scheduled.deliveryId IS NULL AND ready.deliveryId IS NULL
            AND leased.deliveryId IS NULL AND delivery.deliveryId NOT IN (
                SELECT late.deliveryId FROM pushLeasedDeliveries AS late WHERE late.leaseUntil <= statement_timestamp()
            ) AS isSent
    ) AS together;

COMMENT ON VIEW pushDeliveryStates IS 'One row per delivery, with its state. Of many deliveries it is read quickly without finishedAt, which is looked up for each that was sent.';
COMMENT ON COLUMN pushDeliveryStates.deliveryId IS 'Number of the delivery.';
COMMENT ON COLUMN pushDeliveryStates.sendId IS 'The send; NULL for a delivery of Live Activities.';
COMMENT ON COLUMN pushDeliveryStates.kind IS 'liveStart, liveEnd or liveAlert, as in pushDeliveries; NULL for a delivery of a send.';
COMMENT ON COLUMN pushDeliveryStates.uid IS 'The user.';
COMMENT ON COLUMN pushDeliveryStates.deviceId IS 'The device; NULL for a send to a token.';
COMMENT ON COLUMN pushDeliveryStates.platform IS 'Platform of the device.';
COMMENT ON COLUMN pushDeliveryStates.provider IS 'Provider of the token.';
COMMENT ON COLUMN pushDeliveryStates.environment IS 'Environment of the token.';
COMMENT ON COLUMN pushDeliveryStates.app IS 'Bundle id or FCM app.';
COMMENT ON COLUMN pushDeliveryStates.createdAt IS 'When it was stored.';
COMMENT ON COLUMN pushDeliveryStates.state IS
    'ready, scheduled, blocked (by an open circuit), sending, or its outcome: sent, cancelled, superseded, failed, expired, unreachable.';
COMMENT ON COLUMN pushDeliveryStates.attempts IS 'Number of attempts made; NULL for a delivery whose lease has run out and that is to be sent again.';
COMMENT ON COLUMN pushDeliveryStates.reasonCode IS
    'Reason of the last failed attempt; NULL if there is none, or if the delivery is ready, sending, or ended otherwise than in pushDead.';
COMMENT ON COLUMN pushDeliveryStates.providerErrorCode IS
    'Code of the last failed attempt of a delivery in pushDead; otherwise NULL.';
COMMENT ON COLUMN pushDeliveryStates.finishedAt IS 'When it ended; NULL if it has not, or if its outcome is forgotten.';
COMMENT ON COLUMN pushDeliveryStates.nextAttemptAt IS 'When it can be claimed; NULL unless it is scheduled.';

-- One row.
CREATE TABLE pushOutcomeNumbers (
    lastNumber bigint NOT NULL
);
INSERT INTO pushOutcomeNumbers VALUES (0);

COMMENT ON TABLE pushOutcomeNumbers IS 'The number of the latest row of pushOutcomes that has one. Internal.';

-- How far each webhook has come in the stream of outcomes. A row is made when a webhook of its name first looks.
CREATE TABLE pushOutcomeWebhooks (
    name          text        PRIMARY KEY,
    -- A cursor: everything up to here was sent, was not wanted, or is in pushOutcomeWebhookDeadLetters.
    number        bigint      NOT NULL,
    index         bigint      NOT NULL,
    -- In a row, at this place.
    failures      integer     NOT NULL DEFAULT 0,
    failingSince  timestamptz,
    nextAttemptAt timestamptz NOT NULL DEFAULT clock_timestamp(),
    lastError     text,
    deliveredAt   timestamptz,
    owner         text,
    leaseUntil    timestamptz,
    epoch         bigint      NOT NULL DEFAULT 0
);

COMMENT ON TABLE pushOutcomeWebhooks IS 'How far each webhook has come in the outcomes of sends. Internal.';

CREATE TABLE pushOutcomeWebhookDeadLetters (
    deadLetterId bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name         text        NOT NULL,
    afterNumber  bigint      NOT NULL,
    afterIndex   bigint      NOT NULL,
    number       bigint      NOT NULL,
    index        bigint      NOT NULL,
    outcomes     integer     NOT NULL,
    error        text        NOT NULL,
    deadAt       timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE pushOutcomeWebhookDeadLetters IS 'Outcomes that a webhook refused for a day: those between two cursors. Internal.';

CREATE TYPE circuitKind AS ENUM ('refused', 'failing', 'unreachable');
COMMENT ON TYPE circuitKind IS
    'refused: the credential or the topic is rejected; failing: every request gets a server error; unreachable: no request gets a response.';

CREATE TABLE pushCircuits (
    circuitId     bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind          circuitKind      NOT NULL,
    provider      pushProvider     NOT NULL,
    app           text COLLATE "C" NOT NULL,
    environment   pushEnvironment  NOT NULL,
    platform      text COLLATE "C" NOT NULL,
    topic         text COLLATE "C" NOT NULL,
    credential    text COLLATE "C" NOT NULL,
    cause         text             NOT NULL,
    since         timestamptz      NOT NULL,
    lastRefusedAt timestamptz      NOT NULL,
    refusals      bigint           NOT NULL,
    probes        integer          NOT NULL DEFAULT 0,
    nextProbeAt   timestamptz      NOT NULL,
    -- Another credential of the scope that was probed already.
    probedWith    text COLLATE "C",
    closedAt      timestamptz,
    closedBy      text
);

CREATE UNIQUE INDEX pushCircuits_open ON pushCircuits (kind, provider, app, environment, platform, topic, credential)
    WHERE closedAt IS NULL;
CREATE INDEX pushCircuits_closedAt ON pushCircuits (closedAt);

COMMENT ON TABLE pushCircuits IS
    'One row for each time that a credential or topic was rejected, or a provider was down. Its deliveries are blocked until closedAt.';
COMMENT ON COLUMN pushCircuits.circuitId IS 'Number of the circuit.';
COMMENT ON COLUMN pushCircuits.kind IS 'What went wrong.';
COMMENT ON COLUMN pushCircuits.provider IS 'Provider of the blocked deliveries.';
COMMENT ON COLUMN pushCircuits.app IS 'App of the blocked deliveries.';
COMMENT ON COLUMN pushCircuits.environment IS 'Environment of the blocked deliveries.';
COMMENT ON COLUMN pushCircuits.platform IS 'Platform of the blocked deliveries; '''' for every platform.';
COMMENT ON COLUMN pushCircuits.topic IS 'The apns-topic that is rejected; '''' for every topic.';
COMMENT ON COLUMN pushCircuits.credential IS
    'Name of the credential in use; not a secret. Other credentials of the same scope are not blocked.';
COMMENT ON COLUMN pushCircuits.cause IS 'The provider''s code.';
COMMENT ON COLUMN pushCircuits.since IS 'When the first rejection was.';
COMMENT ON COLUMN pushCircuits.lastRefusedAt IS 'When the latest rejection was.';
COMMENT ON COLUMN pushCircuits.refusals IS 'Number of rejections.';
COMMENT ON COLUMN pushCircuits.probes IS 'Number of probes sent so far.';
COMMENT ON COLUMN pushCircuits.nextProbeAt IS
    'When the next probe may be sent. The worker that advances it sends the probe. After an outage, the one that sets it to infinity makes the retries ready.';
COMMENT ON COLUMN pushCircuits.closedAt IS 'When the circuit was closed; NULL while it is open.';
COMMENT ON COLUMN pushCircuits.closedBy IS '''probe'', ''nothing waits'', or the operator who closed it; NULL while it is open.';

CREATE TABLE pushRateLimitPauses (
    provider    pushProvider     NOT NULL,
    app         text COLLATE "C" NOT NULL,
    cause       text             NOT NULL,
    since       timestamptz      NOT NULL,
    pausedUntil timestamptz      NOT NULL,
    requestedUntil timestamptz,
    number      integer          NOT NULL,
    PRIMARY KEY (provider, app)
);

COMMENT ON TABLE pushRateLimitPauses IS 'Pauses that a provider asked for. Nothing is claimed from the queues of the app until pausedUntil.';
COMMENT ON COLUMN pushRateLimitPauses.provider IS 'Provider that asked for the pause.';
COMMENT ON COLUMN pushRateLimitPauses.app IS 'App whose queues are paused.';
COMMENT ON COLUMN pushRateLimitPauses.cause IS 'The provider''s code.';
COMMENT ON COLUMN pushRateLimitPauses.since IS 'When the pause began.';
COMMENT ON COLUMN pushRateLimitPauses.pausedUntil IS
    'When the pause ends. The row is kept for some time after this, so that another pause that follows at once is longer.';
COMMENT ON COLUMN pushRateLimitPauses.requestedUntil IS
    'What the provider asked for, if that is later: at most 15 minutes are obeyed; otherwise NULL.';
COMMENT ON COLUMN pushRateLimitPauses.number IS 'Number of pauses in succession.';

-- A token bucket per row, shared by all instances. Critical sends are not limited.
CREATE TABLE pushThrottles (
    provider   pushProvider     NOT NULL,
    app        text COLLATE "C" NOT NULL,
    perMinute  double precision NOT NULL CHECK (perMinute >= 0),
    reason     text             NOT NULL,
    author     text             NOT NULL,
    createdAt  timestamptz      NOT NULL,
    expiresAt  timestamptz      NOT NULL,
    -- The level of the bucket at refilledAt, in sends.
    allowance  double precision NOT NULL,
    refilledAt timestamptz      NOT NULL,
    share      double precision CHECK (share BETWEEN 0 AND 1),
    PRIMARY KEY (provider, app)
);

COMMENT ON TABLE pushThrottles IS 'Limits on non-critical sends, set by an operator.';
COMMENT ON COLUMN pushThrottles.provider IS 'Provider whose sends are limited.';
COMMENT ON COLUMN pushThrottles.app IS 'App whose sends are limited; '''' for every app.';
COMMENT ON COLUMN pushThrottles.perMinute IS 'Sends per minute at most, of all instances together. Critical sends are not limited.';
COMMENT ON COLUMN pushThrottles.reason IS 'Why, as the operator wrote it.';
COMMENT ON COLUMN pushThrottles.author IS 'Who set it.';
COMMENT ON COLUMN pushThrottles.createdAt IS 'When it was set.';
COMMENT ON COLUMN pushThrottles.expiresAt IS 'When it ends.';
COMMENT ON COLUMN pushThrottles.share IS
    'The share of the traffic (0 to 1) that the operator asked for, of which perMinute is the value at that time; NULL if a rate was asked for.';

-- Input of the trends of first attempts and retries. The arrays have one element per queue in which something waits.
CREATE TABLE pushQueueSamples (
    at       timestamptz PRIMARY KEY,
    queues   integer[]   NOT NULL,
    -- Due, and not attempted yet.
    queued   bigint[]    NOT NULL,
    -- Attempted, and waiting for the next attempt.
    retrying bigint[]    NOT NULL
);

COMMENT ON TABLE pushQueueSamples IS 'Waiting deliveries by queue, every five seconds. Kept for five minutes.';

-- Input of the alert rules with the conditions `backlog` and `queue_age`.
CREATE TABLE sendBacklogMinutes (
    minute        timestamptz NOT NULL,
    provider      text        NOT NULL,
    waiting       bigint      NOT NULL,
    oldestSeconds bigint,
    PRIMARY KEY (minute, provider)
);

COMMENT ON TABLE sendBacklogMinutes IS 'Waiting deliveries by provider, sampled once a minute.';
COMMENT ON COLUMN sendBacklogMinutes.minute IS 'The minute of the sample. A minute without rows was not sampled.';
COMMENT ON COLUMN sendBacklogMinutes.provider IS 'Provider of the deliveries.';
COMMENT ON COLUMN sendBacklogMinutes.waiting IS 'Number of waiting deliveries.';
COMMENT ON COLUMN sendBacklogMinutes.oldestSeconds IS 'Age of the oldest delivery in pushReady, in seconds; NULL if there is none.';

-- Input of alert rules: a blocked delivery is not attempted, so no count of attempts contains it.
CREATE TABLE circuitMinutes (
    circuitId   bigint           NOT NULL,
    reasonCode  pushReason       NOT NULL,
    minute      timestamptz      NOT NULL,
    provider    text             NOT NULL,
    app         text COLLATE "C" NOT NULL,
    environment text             NOT NULL,
    platform    text COLLATE "C" NOT NULL,
    cause       text             NOT NULL,
    since       timestamptz      NOT NULL,
    waiting     bigint           NOT NULL,
    PRIMARY KEY (circuitId, minute)
);

CREATE INDEX circuitMinutes_minute ON circuitMinutes (minute);

COMMENT ON TABLE circuitMinutes IS 'Deliveries blocked by each open circuit, sampled once a minute.';
COMMENT ON COLUMN circuitMinutes.circuitId IS 'The circuit, in pushCircuits.';
COMMENT ON COLUMN circuitMinutes.reasonCode IS 'Reason that the blocked deliveries would fail with.';
COMMENT ON COLUMN circuitMinutes.minute IS 'The minute of the sample.';
COMMENT ON COLUMN circuitMinutes.provider IS 'As in pushCircuits.';
COMMENT ON COLUMN circuitMinutes.app IS 'As in pushCircuits.';
COMMENT ON COLUMN circuitMinutes.environment IS 'As in pushCircuits.';
COMMENT ON COLUMN circuitMinutes.platform IS 'As in pushCircuits; '''' for every platform.';
COMMENT ON COLUMN circuitMinutes.cause IS 'The provider''s code.';
COMMENT ON COLUMN circuitMinutes.since IS 'When the first rejection was.';
COMMENT ON COLUMN circuitMinutes.waiting IS
    'Number of deliveries that the circuit blocked. In a minute that was not sampled, that of a sample before or after it.';
