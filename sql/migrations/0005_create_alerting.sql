-- Alerting: what the evaluator knows, what it decided, and what was delivered to whom.
--
-- Lock: none on existing data; creates only.
--
-- One transaction of the evaluator moves a rule's checkpoints, its episodes, their transitions and the outbox together, and checks
-- the evaluator's lease in the same commit. State is a function of the rollups: the checkpoints are a cache that can be rebuilt.

-- Singletons. A holder works while its epoch stands; expiry is compared with this server's clock alone.
CREATE TABLE alertLeases (
    name      text PRIMARY KEY,
    holder    text NOT NULL,
    -- Grows with every change of holder: the fencing number checked in each commit.
    epoch     bigint NOT NULL,
    expiresAt timestamptz NOT NULL
);

-- How far each rule has been evaluated, and under which version.
CREATE TABLE alertRuleProgress (
    rule        text PRIMARY KEY,
    ruleVersion text NOT NULL,
    -- The newest closed minute that was folded in.
    asOf        timestamptz NOT NULL,
    evaluatedAt timestamptz NOT NULL
);

-- One row per alert, from firing to resolved.
CREATE TABLE alertEpisodes (
    episodeId             uuid PRIMARY KEY,
    rule                  text NOT NULL,
    ruleVersion           text NOT NULL,
    -- The group in one stable text ('provider=fcm', 'all'), and its values.
    groupKey              text NOT NULL,
    groupLabels           jsonb NOT NULL,
    -- alertname, the rule's labels, severity and the group.
    labels                jsonb NOT NULL,
    severity              text NOT NULL CHECK (severity IN ('critical', 'page', 'ticket', 'info')),
    state                 text NOT NULL CHECK (state IN ('firing', 'resolved')),
    -- The first bad minute.
    startsAt              timestamptz NOT NULL,
    -- The end of the minute that decided.
    firedAt               timestamptz NOT NULL,
    -- The first minute of the good run.
    endsAt                timestamptz,
    -- The end of the minute that proved recovery.
    resolvedAt            timestamptz,
    resolvedReason        text,
    -- How long after it could have been known the alert was found: downtime, late rows.
    detectedLateBySeconds bigint NOT NULL,
    evidence              jsonb NOT NULL,
    -- Who is affected most, backlog at the time, and the query that reproduces the numbers.
    contributors          jsonb NOT NULL,
    backlog               jsonb,
    reproduceSql          text NOT NULL,
    annotations           jsonb NOT NULL,
    acknowledgedAt        timestamptz,
    acknowledgedBy        text,
    -- The silence that keeps it from being delivered.
    silencedBy            uuid,
    -- Late rows changed the numbers it fired with.
    revised               boolean NOT NULL DEFAULT false,
    -- Since when there is no traffic that could prove or disprove it.
    heldSince             timestamptz,
    updatedAt             timestamptz NOT NULL,
    CHECK ((state = 'resolved') = (resolvedAt IS NOT NULL))
);

COMMENT ON TABLE alertEpisodes IS 'One row per alert, from firing to resolved.';

-- At most one open episode per rule and group.
CREATE UNIQUE INDEX alertEpisodes_open ON alertEpisodes (rule, groupKey) WHERE state = 'firing';
CREATE INDEX alertEpisodes_firedAt ON alertEpisodes (firedAt DESC, episodeId);

-- The latch of each rule, version and group, as of a minute from which the newest minutes are folded anew.
CREATE TABLE alertCheckpoints (
    rule        text NOT NULL,
    ruleVersion text NOT NULL,
    groupKey    text NOT NULL,
    groupLabels jsonb NOT NULL,
    asOf        timestamptz NOT NULL,
    state       jsonb NOT NULL,
    PRIMARY KEY (rule, ruleVersion, groupKey)
);

-- What happened to an episode, in order. What a message says is what its transition said.
CREATE TABLE alertTransitions (
    episodeId   uuid NOT NULL REFERENCES alertEpisodes,
    seq         integer NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('firing', 'resolved')),
    reason      text NOT NULL,
    -- The closed minute that decided.
    minute      timestamptz NOT NULL,
    evidence    jsonb NOT NULL,
    annotations jsonb NOT NULL,
    -- The evaluator's fencing number.
    epoch       bigint NOT NULL,
    recordedAt  timestamptz NOT NULL,
    PRIMARY KEY (episodeId, seq)
);

-- What is to be delivered: one ordered lane per episode and receiver.
CREATE TABLE alertOutbox (
    episodeId     uuid NOT NULL,
    receiver      text NOT NULL,
    seq           integer NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('firing', 'resolved')),
    -- pending → delivered; parked = refused for good; coalesced = told by a later message of the lane;
    -- undelivered = given up 24 h after the resolution.
    state         text NOT NULL CHECK (state IN ('pending', 'delivered', 'parked', 'coalesced', 'undelivered')),
    attempts      integer NOT NULL DEFAULT 0,
    nextAttemptAt timestamptz NOT NULL,
    -- The courier's fencing number, and until when nobody else may take the row.
    leaseEpoch    bigint,
    leaseUntil    timestamptz,
    lastError     text,
    createdAt     timestamptz NOT NULL,
    settledAt     timestamptz,
    PRIMARY KEY (episodeId, receiver, seq),
    UNIQUE (episodeId, receiver, kind),
    FOREIGN KEY (episodeId, seq) REFERENCES alertTransitions
);

CREATE INDEX alertOutbox_pending ON alertOutbox (nextAttemptAt) WHERE state = 'pending';

-- Every try at delivering, with the answer. Secrets are removed before they come here.
CREATE TABLE alertDeliveries (
    deliveryId     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    episodeId      uuid NOT NULL,
    receiver       text NOT NULL,
    seq            integer NOT NULL,
    -- delivered, retry, parked.
    result         text NOT NULL,
    attemptedAt    timestamptz NOT NULL,
    -- HTTP status; null when there was no answer.
    status         integer,
    latencyMs      integer NOT NULL,
    responsePrefix text,
    error          text
);

CREATE INDEX alertDeliveries_episode ON alertDeliveries (episodeId, deliveryId);

-- Deliveries that are not wanted: matched episodes are recorded, not delivered.
CREATE TABLE alertSilences (
    silenceId uuid PRIMARY KEY,
    -- [{"name": "alertname", "value": "ProviderOutage", "isEqual": true}, …]: all must match.
    matchers  jsonb NOT NULL,
    startsAt  timestamptz NOT NULL,
    endsAt    timestamptz NOT NULL,
    author    text NOT NULL,
    reason    text NOT NULL,
    createdAt timestamptz NOT NULL,
    CHECK (endsAt >= startsAt)
);

CREATE INDEX alertSilences_endsAt ON alertSilences (endsAt);

-- A baseline's memory: attempts and bad attempts of a stratum on a whole UTC day. A day that has rows here never changes.
CREATE TABLE alertBaselineDays (
    rule            text NOT NULL,
    ruleVersion     text NOT NULL,
    stratum         jsonb NOT NULL,
    day             date NOT NULL,
    attempts        bigint NOT NULL,
    bad             bigint NOT NULL,
    excludedMinutes integer NOT NULL,
    PRIMARY KEY (rule, ruleVersion, day, stratum)
);

-- Minutes that must not teach a baseline: entered by an operator after a long incident.
CREATE TABLE alertBaselineExclusions (
    fromAt timestamptz NOT NULL,
    toAt   timestamptz NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (fromAt, toAt),
    CHECK (toAt > fromAt)
);
