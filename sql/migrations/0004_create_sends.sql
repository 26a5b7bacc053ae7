-- Sends: what callers asked for, and the durable queue that gets it done.
--
-- Lock: none on existing data; creates only.
--
-- A send has one delivery for each device it goes to. A delivery is in exactly one of five tables: ready, scheduled, leased, finished
-- or dead. Rows of pushReady are only inserted and deleted, in order within a lane, and it holds nothing but what can be claimed now;
-- so a claim stays a short walk along its primary key, whatever else is stored or which snapshot an analyst holds open.

CREATE TYPE pushPolicy AS ENUM ('at_least_once', 'at_most_once');

-- Lanes share the workers by weight: app, provider, urgency.
CREATE TABLE pushLanes (
    lane     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app      text COLLATE "C" NOT NULL,
    provider pushProvider NOT NULL,
    critical boolean NOT NULL,
    UNIQUE (app, provider, critical)
);

-- What was asked for. Never changed.
CREATE TABLE pushSends (
    sendId       text COLLATE "C" PRIMARY KEY,
    -- SHA-256 of the request's canonical JSON: tells a resend from a reuse of the id.
    contentHash  bytea NOT NULL,
    requestId    text COLLATE "C" NOT NULL,
    author       text NOT NULL,
    -- title, body, data, apns, fcm, pushType, collapseId, priority: what the provider request is made of.
    content      jsonb NOT NULL,
    critical     boolean NOT NULL,
    policy       pushPolicy NOT NULL,
    createdAt    timestamptz NOT NULL,
    notBefore    timestamptz,
    expiresAt    timestamptz NOT NULL
);

CREATE INDEX pushSends_createdAt ON pushSends USING brin (createdAt);

-- One row per device (or token) of a send. Never changed.
CREATE TABLE pushDeliveries (
    deliveryId  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sendId      text COLLATE "C" NOT NULL,
    lane        integer NOT NULL,
    uid         text COLLATE "C" NOT NULL,
    -- With a deviceId the token is looked up when the delivery is sent, so a rotated token is followed.
    deviceId    text COLLATE "C",
    platform    pushPlatform NOT NULL,
    provider    pushProvider NOT NULL,
    environment pushEnvironment NOT NULL,
    app         text COLLATE "C" NOT NULL,
    pushToken   text,
    tokenHash   text COLLATE "C",
    createdAt   timestamptz NOT NULL,
    CHECK ((deviceId IS NULL) = (pushToken IS NOT NULL)),
    CHECK ((pushToken IS NULL) = (tokenHash IS NULL))
);

COMMENT ON COLUMN pushDeliveries.pushToken IS 'The raw token of a send addressed to one: never to be granted to analysts, logged or shown.';

CREATE INDEX pushDeliveries_sendId ON pushDeliveries (sendId);
CREATE INDEX pushDeliveries_createdAt ON pushDeliveries USING brin (createdAt);

-- Claimable now.
CREATE TABLE pushReady (
    lane          integer NOT NULL,
    seq           bigint GENERATED ALWAYS AS IDENTITY,
    deliveryId    bigint NOT NULL,
    attemptNumber integer NOT NULL,
    readyAt       timestamptz NOT NULL,
    PRIMARY KEY (lane, seq)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Claimable later: not before a moment, or a retry.
CREATE TABLE pushScheduled (
    deliveryId    bigint PRIMARY KEY,
    lane          integer NOT NULL,
    runAt         timestamptz NOT NULL,
    attemptNumber integer NOT NULL,
    -- The reason of the failure it is a retry after; null for a send that is merely not due.
    reasonCode    pushReason
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX pushScheduled_runAt ON pushScheduled (runAt);

CREATE SEQUENCE pushLeaseTokens;

-- Being sent. A worker may change the delivery only while its leaseToken is here.
CREATE TABLE pushLeases (
    deliveryId    bigint PRIMARY KEY,
    lane          integer NOT NULL,
    leaseToken    bigint NOT NULL,
    attemptNumber integer NOT NULL,
    worker        text NOT NULL,
    -- The token as claimed; null when the device has none any more.
    tokenHash     text COLLATE "C",
    claimedAt     timestamptz NOT NULL,
    leaseUntil    timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX pushLeases_leaseUntil ON pushLeases (leaseUntil);

-- Over, as asked: sent, or cancelled.
CREATE TABLE pushFinished (
    deliveryId        bigint PRIMARY KEY,
    lane              integer NOT NULL,
    outcome           text NOT NULL CHECK (outcome IN ('sent', 'cancelled')),
    -- Tries made; each has its row in notificationDeliveryAttempts.
    attempts          integer NOT NULL,
    providerMessageId text,
    finishedAt        timestamptz NOT NULL
);

CREATE INDEX pushFinished_finishedAt ON pushFinished USING brin (finishedAt);

-- Over without success, with its cause.
CREATE TABLE pushDead (
    deliveryId        bigint PRIMARY KEY,
    lane              integer NOT NULL,
    -- failed: a permanent refusal, or an unknown outcome that must not be repeated; expired; unreachable: the device has no token.
    outcome           text NOT NULL CHECK (outcome IN ('failed', 'expired', 'unreachable')),
    attempts          integer NOT NULL,
    reasonCode        pushReason,
    providerErrorCode text,
    finishedAt        timestamptz NOT NULL
);

CREATE INDEX pushDead_finishedAt ON pushDead USING brin (finishedAt);

-- A cancelled send's ready deliveries leave the queue when they are claimed, so cancelling never searches the hot table.
CREATE TABLE pushCancels (
    sendId      text COLLATE "C" PRIMARY KEY,
    author      text NOT NULL,
    cancelledAt timestamptz NOT NULL
);

-- A limit on non-critical sends, shared by all instances: the bucket's level is kept here.
CREATE TABLE pushThrottles (
    provider   pushProvider NOT NULL,
    -- '' = every app.
    app        text COLLATE "C" NOT NULL,
    perMinute  double precision NOT NULL CHECK (perMinute >= 0),
    reason     text NOT NULL,
    author     text NOT NULL,
    createdAt  timestamptz NOT NULL,
    expiresAt  timestamptz NOT NULL,
    allowance  double precision NOT NULL,
    refilledAt timestamptz NOT NULL,
    PRIMARY KEY (provider, app)
);
