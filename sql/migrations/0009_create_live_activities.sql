-- Live Activities: who follows what, which activity is on whose lock screen, and what it shows.
--
-- Lock: none on existing data; creates only.
--
-- A *subject* is what an activity is about. For a match it is the matchId, with its state in activeMatches; for any other registered
-- attributes type it is '<attributesType>/<activityId>', with its state in activitySubjects. Everything below them is the same for both.

CREATE TYPE activityStatus AS ENUM ('pending', 'active', 'ended');

-- Who wants which match. Deleted when the user unfollows; a follow of a match that is over is deleted when it expires.
CREATE TABLE follows (
    userId     text COLLATE "C" NOT NULL,
    matchId    text COLLATE "C" NOT NULL,
    -- The device it was followed from; every device of the user gets the activity.
    deviceId   text COLLATE "C",
    followedAt timestamptz NOT NULL,
    -- 48 hours after the match ended; null until then.
    expiresAt  timestamptz,
    PRIMARY KEY (userId, matchId)
);

CREATE INDEX follows_matchId ON follows (matchId);
CREATE INDEX follows_expiresAt ON follows (expiresAt) WHERE expiresAt IS NOT NULL;

COMMENT ON TABLE follows IS 'One row per user and followed match.';

-- One activity on one device. A new start after an end is a new generation; the old row stays as it ended.
CREATE TABLE liveActivities (
    matchId           text COLLATE "C" NOT NULL,
    userId            text COLLATE "C" NOT NULL,
    deviceId          text COLLATE "C" NOT NULL,
    generation        integer NOT NULL CHECK (generation > 0),
    status            activityStatus NOT NULL,
    endReason         text CHECK (endReason IN
        ('match_end', 'user_unfollow', 'user_dismissed', 'token_invalid', 'device_unregistered', 'rolled_over')),
    attributesType    text COLLATE "C" NOT NULL,
    -- Kept here as well as with the device: the activity has to be ended after the device is gone.
    app               text COLLATE "C" NOT NULL,
    environment       pushEnvironment NOT NULL,
    updateToken       text,
    updateTokenHash   text COLLATE "C",
    tokenRegisteredAt timestamptz,
    -- Set instead of an update token when the device listens to a broadcast channel.
    channelId         text,
    createdAt         timestamptz NOT NULL,
    -- Starts claimed in this generation, and when the next one may be; null: no more.
    startAttempts     integer NOT NULL DEFAULT 0,
    nextStartAt       timestamptz,
    startSentAt       timestamptz,
    startAcceptedAt   timestamptz,
    activatedAt       timestamptz,
    endedAt           timestamptz,
    -- What the device was last sent, for conflation, heartbeats and the rule that timestamps rise.
    lastTimestampSent bigint NOT NULL DEFAULT 0,
    lastStateHash     text COLLATE "C",
    lastSentAt        timestamptz,
    -- When the push that ends it on the device is due; null when none is owed.
    endDueAt          timestamptz,
    endAttempts       integer NOT NULL DEFAULT 0,
    expiresAt         timestamptz,
    PRIMARY KEY (matchId, userId, deviceId, generation),
    CHECK ((status = 'ended') = (endReason IS NOT NULL)),
    CHECK (status <> 'active' OR updateToken IS NOT NULL OR channelId IS NOT NULL),
    CHECK ((updateToken IS NULL) = (updateTokenHash IS NULL))
);

COMMENT ON TABLE liveActivities IS 'One row per activity: match (or other subject), user, device and generation.';
COMMENT ON COLUMN liveActivities.updateToken IS 'The raw update token: never to be granted to analysts, logged or shown.';

-- At most one that waits and one that runs; both only while a long activity rolls over to its next generation.
CREATE UNIQUE INDEX liveActivities_current ON liveActivities (matchId, userId, deviceId, status) WHERE status <> 'ended';
-- An update token belongs to one activity.
CREATE UNIQUE INDEX liveActivities_tokenOwner ON liveActivities (updateTokenHash) WHERE status = 'active' AND updateTokenHash IS NOT NULL;
CREATE INDEX liveActivities_active ON liveActivities (matchId) WHERE status = 'active';
CREATE INDEX liveActivities_startDue ON liveActivities (matchId, nextStartAt) WHERE status = 'pending' AND nextStartAt IS NOT NULL;
CREATE INDEX liveActivities_endDue ON liveActivities (endDueAt) WHERE endDueAt IS NOT NULL;
CREATE INDEX liveActivities_device ON liveActivities (userId, deviceId) WHERE status <> 'ended';
CREATE INDEX liveActivities_expiresAt ON liveActivities (expiresAt) WHERE expiresAt IS NOT NULL;

-- Every start that was claimed: a device's budget is counted here, and what came of each start.
CREATE TABLE activityStarts (
    startId    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    matchId    text COLLATE "C" NOT NULL,
    userId     text COLLATE "C" NOT NULL,
    deviceId   text COLLATE "C" NOT NULL,
    generation integer NOT NULL,
    claimedAt  timestamptz NOT NULL,
    -- null: not answered yet. unknown: it may have arrived.
    outcome    text CHECK (outcome IN ('accepted', 'refused', 'unknown', 'notSent')),
    adoptedAt  timestamptz
);

CREATE INDEX activityStarts_device ON activityStarts (deviceId, claimedAt);
CREATE INDEX activityStarts_claimedAt ON activityStarts USING brin (claimedAt);

-- Matches that are, or soon will be, or just were live: their state, and what detecting events needs to remember.
CREATE TABLE activeMatches (
    matchId          text COLLATE "C" PRIMARY KEY,
    phase            text NOT NULL CHECK (phase IN ('scheduled', 'live', 'break', 'interrupted', 'ended', 'abandoned')),
    -- UnifiedDisplayState as canonical JSON: the very bytes that every follower gets.
    displayState     text NOT NULL,
    -- Grows with every stored change of the display state.
    seq              bigint NOT NULL DEFAULT 0,
    -- SHA-256 of the display state without what changes by itself (seq, updatedAt).
    stateHash        text COLLATE "C" NOT NULL,
    -- aps.timestamp of this state: max(now, last + 1), so that it rises strictly for a match, whoever writes it.
    stateTimestamp   bigint NOT NULL,
    stateBuiltAt     timestamptz NOT NULL,
    -- The one event this state is told with, if any, and the words for an alert.
    keyEvent         text,
    keyEventPriority smallint,
    alertTitle       text,
    alertBody        text,
    -- What detection remembers (seed 003).
    previousScores   jsonb NOT NULL DEFAULT '{}',
    cooldowns        jsonb NOT NULL DEFAULT '{}',
    lastBalls        jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(lastBalls) = 'array' AND jsonb_array_length(lastBalls) <= 30),
    -- Anything else detection carries from one state to the next.
    detection        jsonb NOT NULL DEFAULT '{}',
    -- The state as the feed last gave it.
    feedState        jsonb,
    pollerState      text NOT NULL DEFAULT 'paused' CHECK (pollerState IN ('polling', 'paused', 'ended')),
    feedUrl          text,
    -- Who polls the feed.
    feedOwner        text,
    feedLeaseUntil   timestamptz,
    feedEpoch        bigint NOT NULL DEFAULT 0,
    -- Who sends to followers. Every send is fenced by the epoch.
    owner            text,
    leaseUntil       timestamptz,
    epoch            bigint NOT NULL DEFAULT 0,
    startsAt         timestamptz,
    wentLiveAt       timestamptz,
    endedAt          timestamptz,
    lastUpdatedAt    timestamptz NOT NULL,
    -- 48 hours after it ended; null until then.
    expiresAt        timestamptz
);

CREATE INDEX activeMatches_expiresAt ON activeMatches (expiresAt) WHERE expiresAt IS NOT NULL;

-- Subjects of activities that are not matches: the state as their caller gave it, checked against its attributes type.
CREATE TABLE activitySubjects (
    -- '<attributesType>/<activityId>'
    subject        text COLLATE "C" PRIMARY KEY,
    attributesType text COLLATE "C" NOT NULL,
    attributes     text NOT NULL,
    contentState   text NOT NULL,
    seq            bigint NOT NULL DEFAULT 1,
    stateHash      text COLLATE "C" NOT NULL,
    stateTimestamp bigint NOT NULL,
    stateBuiltAt   timestamptz NOT NULL,
    critical       boolean NOT NULL DEFAULT false,
    alertTitle     text,
    alertBody      text,
    -- The alert of the start, which stays when an update without one follows at once.
    startAlertTitle text NOT NULL,
    startAlertBody  text NOT NULL,
    staleAt        timestamptz,
    dismissAt      timestamptz,
    endedAt        timestamptz,
    owner          text,
    leaseUntil     timestamptz,
    epoch          bigint NOT NULL DEFAULT 0,
    createdAt      timestamptz NOT NULL,
    lastUpdatedAt  timestamptz NOT NULL,
    expiresAt      timestamptz
);

CREATE INDEX activitySubjects_expiresAt ON activitySubjects (expiresAt) WHERE expiresAt IS NOT NULL;

-- Broadcast channels (iOS 18): one for a subject, app and environment, while it is needed.
CREATE TABLE activityChannels (
    matchId     text COLLATE "C" NOT NULL,
    app         text COLLATE "C" NOT NULL,
    environment pushEnvironment NOT NULL,
    channelId   text NOT NULL,
    createdAt   timestamptz NOT NULL,
    lastTimestampSent bigint NOT NULL DEFAULT 0,
    lastStateHash     text COLLATE "C",
    lastSentAt        timestamptz,
    -- Set when the subject is over; the channel is then deleted at the provider, and the row with it.
    retiredAt   timestamptz,
    PRIMARY KEY (matchId, app, environment)
);
