-- What alert rules read beside the rollups: the send queue minute by minute, on which days each unknown provider code was seen, and how
-- many devices came back after their token was no longer registered. And who is affected by an alert.
--
-- Lock: SHARE on notificationDeliveryAttempts while the partial index is built (attempts cannot be stored meanwhile): seconds on the
-- few rows with an unknown reason of a day's partition, plus one scan of each live partition. ACCESS EXCLUSIVE on alertEpisodes for a moment.

-- Codes in no table of the contract are rare, so finding them must not take a look at every attempt.
CREATE INDEX notificationDeliveryAttempts_unknown ON notificationDeliveryAttempts (attemptedAt) WHERE reasonCode = 'unknown';

-- What waited to be sent, sampled by the evaluator once a minute. A minute without rows was not sampled.
CREATE TABLE sendBacklogMinutes (
    minute        timestamptz NOT NULL,
    provider      text NOT NULL,
    waiting       bigint NOT NULL,
    -- How long the oldest ready one had been waiting; null when none was.
    oldestSeconds bigint,
    PRIMARY KEY (minute, provider)
);

COMMENT ON TABLE sendBacklogMinutes IS 'Sends that waited, sampled once a minute by provider.';

-- On which days a provider answered with a code that is in no table, and first at which minute.
CREATE TABLE providerCodeDays (
    day      date NOT NULL,
    provider text NOT NULL,
    code     text COLLATE "C" NOT NULL,
    firstAt  timestamptz NOT NULL,
    -- In that first minute.
    attempts bigint NOT NULL,
    PRIMARY KEY (day, provider, code)
);

COMMENT ON TABLE providerCodeDays IS 'Days on which a provider''s code without a reason was seen, with the first minute.';

-- Of the devices whose token was no longer registered in an hour (at most some hundreds are followed), how many registered within a day.
CREATE TABLE deviceReturnHours (
    hour     timestamptz NOT NULL,
    provider text NOT NULL,
    app      text COLLATE "C" NOT NULL,
    devices  bigint NOT NULL,
    returned bigint NOT NULL,
    PRIMARY KEY (hour, provider, app)
);

COMMENT ON TABLE deviceReturnHours IS 'Devices with token_not_registered in an hour, and how many of them registered within the next day.';

-- How far each of these has been filled.
CREATE TABLE alertSeriesProgress (
    series text PRIMARY KEY,
    asOf   timestamptz NOT NULL
);

ALTER TABLE alertEpisodes ADD COLUMN affected jsonb;

INSERT INTO analystColumns VALUES
    ('sendBacklogMinutes', 'minute, provider, waiting, oldestSeconds'),
    ('providerCodeDays', 'day, provider, code, firstAt, attempts'),
    ('deviceReturnHours', 'hour, provider, app, devices, returned');
UPDATE analystColumns SET columns = columns || ', affected' WHERE relation = 'alertEpisodes';
SELECT openToAnalysts();
