-- What waits for refused credentials, minute by minute, for alert rules: what is held is not tried, so it is in no count of attempts.
--
-- Lock: none on tables that are in use.

CREATE TABLE heldCredentialMinutes (
    -- Of pushHolds.
    holdId      bigint NOT NULL,
    minute      timestamptz NOT NULL,
    provider    text NOT NULL,
    app         text COLLATE "C" NOT NULL,
    environment text NOT NULL,
    -- '' = every platform.
    platform    text COLLATE "C" NOT NULL,
    -- The provider's code.
    cause       text NOT NULL,
    -- The first refusal.
    since       timestamptz NOT NULL,
    waiting     bigint NOT NULL,
    PRIMARY KEY (holdId, minute)
);

CREATE INDEX heldCredentialMinutes_minute ON heldCredentialMinutes (minute);

COMMENT ON TABLE heldCredentialMinutes IS 'Deliveries that waited for a refused credential, sampled once a minute.';

INSERT INTO analystColumns VALUES
    ('heldCredentialMinutes', 'holdId, minute, provider, app, environment, platform, cause, since, waiting');
SELECT openToAnalysts();
