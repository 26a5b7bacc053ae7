-- The guard against switching off many tokens at once: what providers said of tokens lately, the breakers that opened, and a row for
-- every token that was switched off or put aside, so that it can be undone.
--
-- Lock: none on existing data; creates only.

-- Outcomes that judged a token, by minute. Each process counts in its own rows, so that none waits for another's.
CREATE TABLE tokenOutcomes (
    provider    pushProvider NOT NULL,
    app         text COLLATE "C" NOT NULL,
    environment pushEnvironment NOT NULL,
    credential  text COLLATE "C" NOT NULL,
    minute      timestamptz NOT NULL,
    writerSlot  integer NOT NULL,
    -- Pushes that were taken, and those that were refused because of the token.
    judged      bigint NOT NULL,
    -- Refused for a reason that may be our own configuration's fault.
    ambiguous   bigint NOT NULL,
    -- Refused because the token is gone.
    gone        bigint NOT NULL,
    PRIMARY KEY (provider, app, environment, credential, minute, writerSlot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE INDEX tokenOutcomes_minute ON tokenOutcomes (minute);

-- While one is open nothing of its place is switched off.
CREATE TABLE tokenBreakers (
    breakerId   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider    pushProvider NOT NULL,
    app         text COLLATE "C" NOT NULL,
    environment pushEnvironment NOT NULL,
    credential  text COLLATE "C" NOT NULL,
    openedAt    timestamptz NOT NULL,
    -- What is undone with it begins here.
    windowFrom  timestamptz NOT NULL,
    -- The counts that opened it.
    judged      bigint NOT NULL,
    ambiguous   bigint NOT NULL,
    gone        bigint NOT NULL,
    -- The code of the refusal that opened it.
    cause       text NOT NULL,
    closedAt    timestamptz,
    closedBy    text,
    -- released: the refusals were right; undone: they were not, and the tokens are as before.
    resolution  text CHECK (resolution IN ('released', 'undone')),
    -- After a release it does not open again until then.
    quietUntil  timestamptz,
    CHECK ((closedAt IS NULL) = (resolution IS NULL))
);

COMMENT ON TABLE tokenBreakers IS 'One row per time that too many tokens were refused at once; open until somebody released or undid it.';

CREATE UNIQUE INDEX tokenBreakers_open ON tokenBreakers (provider, app, environment, credential) WHERE closedAt IS NULL;

CREATE TABLE tokenDeactivations (
    deactivationId      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    userId              text COLLATE "C" NOT NULL,
    deviceId            text COLLATE "C" NOT NULL,
    tokenHash           text COLLATE "C" NOT NULL,
    -- The registration it was about; a newer one is not touched by undoing it.
    registrationVersion bigint NOT NULL,
    provider            pushProvider NOT NULL,
    app                 text COLLATE "C" NOT NULL,
    environment         pushEnvironment NOT NULL,
    credential          text COLLATE "C" NOT NULL,
    -- What the answer asked for, and what was done.
    verdict             text NOT NULL CHECK (verdict IN ('off', 'suspect')),
    previousState       deviceTokenState NOT NULL,
    state               deviceTokenState NOT NULL,
    -- The provider's code.
    cause               text NOT NULL,
    -- The try it came from.
    attemptId           text COLLATE "C",
    -- The breaker that kept it from being switched off.
    breakerId           bigint,
    deactivatedAt       timestamptz NOT NULL,
    undoneAt            timestamptz,
    undoneBy            text
);

COMMENT ON TABLE tokenDeactivations IS 'One row per token that was switched off or put aside after a push; may be undone.';

CREATE INDEX tokenDeactivations_place ON tokenDeactivations (provider, app, environment, credential, deactivatedAt);
CREATE INDEX tokenDeactivations_device ON tokenDeactivations (userId, deviceId);
CREATE INDEX tokenDeactivations_breakerId ON tokenDeactivations (breakerId) WHERE breakerId IS NOT NULL;
CREATE INDEX tokenDeactivations_deactivatedAt ON tokenDeactivations USING brin (deactivatedAt);

INSERT INTO analystColumns VALUES
    ('tokenOutcomes', 'provider, app, environment, credential, minute, writerSlot, judged, ambiguous, gone'),
    ('tokenBreakers', 'breakerId, provider, app, environment, credential, openedAt, windowFrom, judged, ambiguous, gone, cause, closedAt,
        closedBy, resolution, quietUntil'),
    ('tokenDeactivations', 'deactivationId, userId, deviceId, tokenHash, registrationVersion, provider, app, environment, credential,
        verdict, previousState, state, cause, attemptId, breakerId, deactivatedAt, undoneAt, undoneBy');
SELECT openToAnalysts();
