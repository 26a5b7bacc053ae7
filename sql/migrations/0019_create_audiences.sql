-- Audiences: stored lists of uids that a send can go to as a whole. And throttles that were asked for as a share.
--
-- Lock: ACCESS EXCLUSIVE on pushThrottles for a moment (a nullable column without a default); SHARE on pushDead while its index is made.

CREATE TABLE audiences (
    audienceId text COLLATE "C" PRIMARY KEY,
    author     text NOT NULL,
    createdAt  timestamptz NOT NULL,
    -- When members were last changed.
    changedAt  timestamptz NOT NULL
);

CREATE TABLE audienceMembers (
    audienceId text COLLATE "C" NOT NULL,
    uid        text COLLATE "C" NOT NULL,
    PRIMARY KEY (audienceId, uid)
);

COMMENT ON TABLE audienceMembers IS 'One row per audience and uid; a send to the audience goes to the devices they have at that moment.';

-- Dead letters of the last days, newest first.
CREATE INDEX pushDead_recent ON pushDead (finishedAt DESC, deliveryId);

-- The share of the flow that was asked for; perMinute is what that was when it was set. Null for a rate.
ALTER TABLE pushThrottles ADD COLUMN share double precision CHECK (share BETWEEN 0 AND 1);

UPDATE analystColumns SET columns = columns || ', share' WHERE relation = 'pushThrottles';
INSERT INTO analystColumns VALUES
    ('audiences', 'audienceId, author, createdAt, changedAt'),
    ('audienceMembers', 'audienceId, uid');
SELECT openToAnalysts();
