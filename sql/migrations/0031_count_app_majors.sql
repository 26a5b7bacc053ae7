-- Attempts are counted by the app's major version too: what fails of an old version and of a new one differs, and a baseline compares like with like.
--
-- Lock: ACCESS EXCLUSIVE on attemptRollups while its key is built anew, some seconds for a year of counts. Instances of the version before this one
-- cannot write counts afterwards: stop them first.

-- The leading number of a version such as 3.2.0; '' without a version, and where it does not begin with a number of at most four digits.
CREATE FUNCTION pushAppMajor(appVersion text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(substring(appVersion FROM '^[0-9]{1,4}(?![0-9])')::integer::text, '');

COMMENT ON FUNCTION pushAppMajor IS 'The major version of an app version, as attemptRollups has it.';

-- '' in rows that were counted before.
ALTER TABLE attemptRollups ADD COLUMN appMajor text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE attemptRollups DROP CONSTRAINT attemptRollups_pkey;
ALTER TABLE attemptRollups
    ADD PRIMARY KEY (minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor, writerSlot);

UPDATE analystColumns SET columns = columns || ', appMajor' WHERE relation = 'attemptRollups';
SELECT openToAnalysts();
