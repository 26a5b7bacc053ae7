-- Broadcast channels: a row stands before its channel is made, until it is deleted at the provider; and what the provider counts.
--
-- Lock: ACCESS EXCLUSIVE on activityChannels and activityStarts for a moment: no version before this one writes the one, and the other's
-- new column needs no rewrite.

ALTER TABLE activityChannels
    -- Null until the provider has named it, and again when the provider has lost it.
    ALTER COLUMN channelId DROP NOT NULL,
    -- When it is to be made (again), or whoever makes it has failed to come back; null once it is there.
    ADD COLUMN createDueAt    timestamptz,
    ADD COLUMN createAttempts integer NOT NULL DEFAULT 0,
    -- Starts wait for it until then, and begin with tokens afterwards.
    ADD COLUMN waitUntil      timestamptz,
    -- The provider's code, when it could not be made.
    ADD COLUMN refusal        text,
    -- When the end is to be told (again), and how often it was.
    ADD COLUMN endDueAt       timestamptz,
    ADD COLUMN endAttempts    integer NOT NULL DEFAULT 0,
    ADD COLUMN endsTold       integer NOT NULL DEFAULT 0,
    ADD COLUMN deleteDueAt    timestamptz,
    ADD COLUMN deleteAttempts integer NOT NULL DEFAULT 0;

CREATE UNIQUE INDEX activityChannels_channelId ON activityChannels (app, environment, channelId) WHERE channelId IS NOT NULL;
CREATE INDEX liveActivities_channel ON liveActivities (matchId, channelId) WHERE channelId IS NOT NULL AND status <> 'ended';

-- No update token comes back from those.
ALTER TABLE activityStarts ADD COLUMN byChannel boolean NOT NULL DEFAULT false;

COMMENT ON TABLE activityChannels IS 'Broadcast channels (iOS 18): one for a match, app and environment, from before it is made until it is deleted at Apple.';

-- Where channels are made: an app has 10,000 at most in each environment, whoever made them.
CREATE TABLE activityChannelScopes (
    app         text COLLATE "C" NOT NULL,
    environment pushEnvironment NOT NULL,
    listDueAt   timestamptz NOT NULL,
    -- What the provider listed last, and how many of them nobody here knows.
    listedAt    timestamptz,
    channels    integer,
    unknown     integer,
    -- No channel is made until then: the provider refused one for a reason that another would meet.
    pausedUntil timestamptz,
    refusal     text,
    PRIMARY KEY (app, environment)
);

COMMENT ON TABLE activityChannelScopes IS 'Apps and environments that channels are made in, each with what the provider listed last.';

-- Channels at the provider that belong to no match: left over by a crash between their making and their noting, or somebody else's.
CREATE TABLE activityChannelStrays (
    app         text COLLATE "C" NOT NULL,
    environment pushEnvironment NOT NULL,
    channelId   text NOT NULL,
    seenAt      timestamptz NOT NULL,
    -- Null: not known to be ours.
    deleteDueAt timestamptz,
    attempts    integer NOT NULL DEFAULT 0,
    PRIMARY KEY (app, environment, channelId)
);

COMMENT ON TABLE activityChannelStrays IS 'Channels at the provider that belong to no match here.';

UPDATE analystColumns SET columns = columns || ', byChannel' WHERE relation = 'activityStarts';
INSERT INTO analystColumns VALUES
    ('activityChannels', 'matchId, app, environment, createdAt, createAttempts, refusal, lastTimestampSent, lastSentAt, retiredAt, endsTold'),
    ('activityChannelScopes', 'app, environment, listedAt, channels, unknown, pausedUntil, refusal');
SELECT openToAnalysts();
