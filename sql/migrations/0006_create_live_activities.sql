-- Live Activities: followers, activities, the state of their subjects, and broadcast channels.
--
-- Locks: none on existing data.
--
-- A subject is what an activity is about. For a match it is the matchId, and its state is in activeMatches. For any other registered
-- attributes type it is '<attributesType>/<activityId>', and its state is in activitySubjects. In all other tables, matchId is the subject.

CREATE TYPE activityStatus AS ENUM ('pending', 'active', 'ended');
COMMENT ON TYPE activityStatus IS
    'Status of a Live Activity. pending: to be started, or started and not known to be shown; active: it gets updates; ended.';

CREATE TABLE follows (
    userId     text COLLATE "C" NOT NULL,
    matchId    text COLLATE "C" NOT NULL,
    deviceId   text COLLATE "C",
    startsHereAt timestamptz,
    position   smallint,
    onlyDeviceId text COLLATE "C",
    followedAt timestamptz      NOT NULL,
    expiresAt  timestamptz,
    PRIMARY KEY (userId, matchId)
);

CREATE INDEX follows_matchId ON follows (matchId, userId);
-- Deletion of follows of matches that never came.
CREATE INDEX follows_followedAt ON follows (followedAt) WHERE expiresAt IS NULL;
CREATE INDEX follows_expiresAt ON follows (expiresAt) WHERE expiresAt IS NOT NULL;

COMMENT ON TABLE follows IS 'One row per user and followed subject. Deleted when the user unfollows it, and when it expires.';
COMMENT ON COLUMN follows.userId IS 'The user.';
COMMENT ON COLUMN follows.matchId IS 'The subject: a matchId, or ''<attributesType>/<activityId>''.';
COMMENT ON COLUMN follows.deviceId IS
    'The device that it was followed from, or whose app last said that it starts the activity; NULL if it is not known. Every device of the user gets the activity.';
COMMENT ON COLUMN follows.startsHereAt IS
    'When the app on deviceId last said, of a live subject, that it starts the activity itself; NULL if it did not.';
COMMENT ON COLUMN follows.position IS
    'What the user wants first, from 1; NULL: after all that have a position, in the order of following.';
COMMENT ON COLUMN follows.onlyDeviceId IS
    'The one device that gets the activity, if it was started for that device; NULL: every device of the user.';
COMMENT ON COLUMN follows.followedAt IS 'When the user followed it.';
COMMENT ON COLUMN follows.expiresAt IS
    '48 hours after the match ended; NULL until then. A follow of a match that never comes is deleted after 90 days, one of a match that was not confirmed for 7 days with the match.';

CREATE TABLE activeMatches (
    matchId          text COLLATE "C" PRIMARY KEY,
    phase            text             NOT NULL
        CHECK (phase IN ('scheduled', 'live', 'break', 'interrupted', 'stumps', 'ended', 'abandoned')),
    displayState     text             NOT NULL,
    seq              bigint           NOT NULL DEFAULT 0,
    -- SHA-256 of displayState without seq and updatedAt.
    stateHash        text COLLATE "C" NOT NULL,
    stateTimestamp   bigint           NOT NULL,
    stateBuiltAt     timestamptz      NOT NULL,
    -- The event that this state announces, if any. The text of its alert is in activityAlerts.
    keyEvent         text,
    keyEventPriority smallint,
    previousScores   jsonb            NOT NULL DEFAULT '{}',
    cooldowns        jsonb            NOT NULL DEFAULT '{}',
    lastBalls        jsonb            NOT NULL DEFAULT '[]'
        CHECK (jsonb_typeof(lastBalls) = 'array' AND jsonb_array_length(lastBalls) <= 30),
    -- What else the detection of events carries from one state to the next.
    detection        jsonb            NOT NULL DEFAULT '{}',
    -- The latest state as the feed returned it.
    feedState        jsonb,
    pollerState      text             NOT NULL DEFAULT 'paused' CHECK (pollerState IN ('polling', 'paused', 'ended')),
    feedUrl          text,
    feedPriority     smallint         NOT NULL DEFAULT 0,
    owner            text,
    leaseUntil       timestamptz,
    epoch            bigint           NOT NULL DEFAULT 0,
    startPriority    smallint         NOT NULL DEFAULT 5,
    startsAt         timestamptz,
    wentLiveAt       timestamptz,
    endedAt          timestamptz,
    lastUpdatedAt    timestamptz      NOT NULL,
    confirmedAt      timestamptz      NOT NULL DEFAULT now(),
    freshFor         integer          NOT NULL DEFAULT 1800,
    expiresAt        timestamptz,
    releasedAt       timestamptz
);

CREATE INDEX activeMatches_expiresAt ON activeMatches (expiresAt) WHERE expiresAt IS NOT NULL;
CREATE INDEX activeMatches_unreleased ON activeMatches (matchId) WHERE releasedAt IS NULL;

COMMENT ON TABLE activeMatches IS 'State of each match that is live, will be soon, or ended in the last 48 hours.';
COMMENT ON COLUMN activeMatches.matchId IS 'Identifies the match.';
COMMENT ON COLUMN activeMatches.phase IS 'scheduled, live, break, interrupted, stumps, ended or abandoned.';
COMMENT ON COLUMN activeMatches.displayState IS 'UnifiedDisplayState as canonical JSON. Every follower gets exactly these bytes.';
COMMENT ON COLUMN activeMatches.seq IS 'Number of the state: incremented with each stored change of displayState.';
COMMENT ON COLUMN activeMatches.stateTimestamp IS
    'aps.timestamp of this state, in seconds since 1970: max(now, last + 1), so that it strictly increases for a match, regardless of the writer.';
COMMENT ON COLUMN activeMatches.stateBuiltAt IS 'When this state was built.';
COMMENT ON COLUMN activeMatches.previousScores IS 'The last known score of each innings, by its number.';
COMMENT ON COLUMN activeMatches.cooldowns IS 'Until when which event is not announced again, in seconds since 1970.';
COMMENT ON COLUMN activeMatches.lastBalls IS 'The latest balls that the detection of events looks back at: at most 30.';
COMMENT ON COLUMN activeMatches.pollerState IS 'polling: the source is heard from; paused: it has been silent for long; ended: the match is over.';
COMMENT ON COLUMN activeMatches.feedUrl IS
    'Source of this state: the feed''s name, by default its URL without sign-in and query; NULL if it was pushed.';
COMMENT ON COLUMN activeMatches.feedPriority IS 'Priority of the source. 0 (pushed) is the highest.';
COMMENT ON COLUMN activeMatches.owner IS 'The server that sends to followers; NULL if none does.';
COMMENT ON COLUMN activeMatches.leaseUntil IS 'When its lease ends; NULL if there is none.';
COMMENT ON COLUMN activeMatches.epoch IS 'Fencing number of every push: increases with each change of the owner.';
COMMENT ON COLUMN activeMatches.startPriority IS
    'From 1, the most important, to 9: which matches are started on a device that follows more than it may start.';
COMMENT ON COLUMN activeMatches.startsAt IS 'When the match is to start; NULL if it is not known.';
COMMENT ON COLUMN activeMatches.wentLiveAt IS 'When play was first seen; NULL if it was not.';
COMMENT ON COLUMN activeMatches.endedAt IS 'When it ended; NULL until then.';
COMMENT ON COLUMN activeMatches.lastUpdatedAt IS 'When displayState was last changed.';
COMMENT ON COLUMN activeMatches.confirmedAt IS
    'When the source last said that this is the state: with a newer one, with the same one again, or with 304.';
COMMENT ON COLUMN activeMatches.freshFor IS 'Seconds. Once the state was not confirmed for so long, it is out of date.';
COMMENT ON COLUMN activeMatches.expiresAt IS 'When the row is deleted: 48 hours after the match ended; NULL until then.';
COMMENT ON COLUMN activeMatches.releasedAt IS
    'When no activity of the ended match was left to be ended: nobody leases it any more; NULL until then.';

CREATE TABLE scoreFeeds (
    -- The feed's name: by default its URL without sign-in and query, which may be secrets.
    feedUrl        text COLLATE "C" PRIMARY KEY,
    -- Lease of the server that polls the feed.
    feedOwner      text,
    feedLeaseUntil timestamptz,
    feedEpoch      bigint           NOT NULL DEFAULT 0
);

COMMENT ON TABLE scoreFeeds IS 'Who polls which score feed.';

-- Input of alert rules: which sources of subjects confirm nothing, and how many people that affects. Sampled by the evaluator.
CREATE TABLE feedMinutes (
    minute        timestamptz      NOT NULL,
    feed          text COLLATE "C" NOT NULL,
    subjects      integer          NOT NULL,
    followers     bigint           NOT NULL,
    silentSeconds bigint           NOT NULL,
    PRIMARY KEY (minute, feed)
);

COMMENT ON TABLE feedMinutes IS 'Sources of live subjects, sampled once a minute.';
COMMENT ON COLUMN feedMinutes.minute IS 'The minute of the sample.';
COMMENT ON COLUMN feedMinutes.feed IS 'The source, as in subjectSources.';
COMMENT ON COLUMN feedMinutes.subjects IS 'Number of live subjects of the source; 0: none is any more, so nobody is affected.';
COMMENT ON COLUMN feedMinutes.followers IS
    'Number of followers of those of them that were not confirmed for affectsAfter (subjectSources).';
COMMENT ON COLUMN feedMinutes.silentSeconds IS 'Seconds since the subject that was confirmed longest ago was confirmed.';

CREATE TABLE activitySubjects (
    subject         text COLLATE "C" PRIMARY KEY,
    attributesType  text COLLATE "C" NOT NULL,
    attributes      text             NOT NULL,
    -- As the caller sent it, validated against the schema of attributesType.
    contentState    text             NOT NULL,
    -- This and the next three columns are as in activeMatches.
    seq             bigint           NOT NULL DEFAULT 1,
    stateHash       text COLLATE "C" NOT NULL,
    stateTimestamp  bigint           NOT NULL,
    stateBuiltAt    timestamptz      NOT NULL,
    critical        boolean          NOT NULL DEFAULT false,
    -- The caller's number of the state, if there is one: a state with a lower or equal number is ignored.
    sequence        bigint,
    -- Whether its type allows broadcast channels.
    usesChannels    boolean          NOT NULL DEFAULT false,
    -- The alert of the start.
    startAlertTitle text             NOT NULL,
    startAlertBody  text             NOT NULL,
    startAlertSound text,
    startAlertLevel text,
    -- When the state is out of date at the latest. If this and freshFor are null: half an hour after stateTimestamp.
    staleAt         timestamptz,
    freshFor        integer,
    confirmedAt     timestamptz      NOT NULL DEFAULT now(),
    relevanceScore  double precision,
    dismissAt       timestamptz,
    endedAt         timestamptz,
    -- Lease of the server that sends to followers.
    owner           text,
    leaseUntil      timestamptz,
    epoch           bigint           NOT NULL DEFAULT 0,
    createdAt       timestamptz      NOT NULL,
    lastUpdatedAt   timestamptz      NOT NULL,
    expiresAt       timestamptz,
    releasedAt      timestamptz
);

CREATE INDEX activitySubjects_expiresAt ON activitySubjects (expiresAt) WHERE expiresAt IS NOT NULL;
CREATE INDEX activitySubjects_unreleased ON activitySubjects (subject) WHERE releasedAt IS NULL;

COMMENT ON TABLE activitySubjects IS 'State of each subject that is not a match.';
COMMENT ON COLUMN activitySubjects.subject IS '''<attributesType>/<activityId>''';
COMMENT ON COLUMN activitySubjects.attributesType IS 'Name of the ActivityAttributes struct.';
COMMENT ON COLUMN activitySubjects.createdAt IS 'When it was created.';
COMMENT ON COLUMN activitySubjects.lastUpdatedAt IS 'When its state was last changed.';
COMMENT ON COLUMN activitySubjects.confirmedAt IS
    'When the caller last said that this is the state: with a newer one, or with the same one again.';
COMMENT ON COLUMN activitySubjects.freshFor IS
    'Seconds. Once the state was not confirmed for so long, it is out of date; NULL: its source does not repeat the state, so nothing confirms it.';
COMMENT ON COLUMN activitySubjects.endedAt IS 'When it ended; NULL until then.';
COMMENT ON COLUMN activitySubjects.releasedAt IS
    'When no activity of it was left to be ended: nobody leases it any more; NULL until then.';

-- What decides who should have an activity, for subjects of every type.
CREATE VIEW liveSubjects WITH (security_invoker = true) AS
SELECT matchId AS subject, 'MatchActivityAttributes'::text COLLATE "C" AS attributesType, phase,
    phase IN ('live', 'break', 'interrupted') AS isLive, displayState AS contentState, stateHash, stateTimestamp, stateBuiltAt,
    confirmedAt, freshFor, startPriority, startsAt, seq, epoch, endedAt, coalesce(wentLiveAt, endedAt, stateBuiltAt) AS startedAt,
    lastUpdatedAt
FROM activeMatches
UNION ALL
SELECT subject, attributesType, CASE WHEN endedAt IS NULL THEN 'live' ELSE 'ended' END, endedAt IS NULL, contentState, stateHash,
    stateTimestamp, stateBuiltAt, confirmedAt, freshFor, CASE WHEN critical THEN 1 ELSE 5 END::smallint, NULL::timestamptz, seq, epoch,
    endedAt, createdAt, lastUpdatedAt
FROM activitySubjects;

COMMENT ON VIEW liveSubjects IS 'All subjects: matches, and those of other types.';

-- What confirms the state of a subject, and when it is silent. No content: the evaluator of alerts reads it.
CREATE VIEW subjectSources WITH (security_invoker = true) AS
SELECT matchId AS subject, coalesce(feedUrl, 'pushed: ' || matchId) AS source, phase IN ('live', 'break', 'interrupted') AS isLive,
    confirmedAt, freshFor,
    -- Seconds without a confirmation after which the source is shown as silent, and after which followers count as affected. A polled feed
    -- is asked at least twice in that minute. Who pushes has nothing to say in a break.
    300 AS silentAfter, CASE WHEN feedUrl IS NULL AND phase <> 'live' THEN freshFor ELSE 60 END AS affectsAfter
FROM activeMatches
UNION ALL
-- One source for a type: the outage of a service is one incident, however many subjects it has.
SELECT subject, 'pushed: ' || attributesType, endedAt IS NULL, confirmedAt, freshFor, freshFor, freshFor
FROM activitySubjects WHERE freshFor IS NOT NULL;

COMMENT ON VIEW subjectSources IS 'Subjects whose state is confirmed by a source, and when it was.';
COMMENT ON COLUMN subjectSources.subject IS 'A matchId, or ''<attributesType>/<activityId>''.';
COMMENT ON COLUMN subjectSources.source IS
    'What confirms the state: the name of a feed, or ''pushed: '' and the matchId or the attributes type.';
COMMENT ON COLUMN subjectSources.isLive IS
    'Whether the subject is live: a match in play, in a break or interrupted; another subject that has not ended.';
COMMENT ON COLUMN subjectSources.confirmedAt IS 'When the source last confirmed the state.';
COMMENT ON COLUMN subjectSources.freshFor IS 'Seconds. Once the state was not confirmed for so long, it is out of date.';
COMMENT ON COLUMN subjectSources.silentAfter IS 'Seconds without a confirmation after which the source is shown as silent.';
COMMENT ON COLUMN subjectSources.affectsAfter IS 'Seconds without a confirmation after which followers count as affected.';

-- An alert belongs to the state that brought it, and is due to each device that was sent neither that state nor a newer one.
CREATE TABLE activityAlerts (
    matchId        text COLLATE "C" NOT NULL,
    stateTimestamp bigint           NOT NULL,
    builtAt        timestamptz      NOT NULL,
    -- 1 is the most important. Of several alerts that are due, a device is shown the most important one, of equals the newest.
    priority       smallint         NOT NULL,
    title          text             NOT NULL,
    body           text             NOT NULL,
    -- Null: silent.
    sound          text,
    interruptionLevel text,
    PRIMARY KEY (matchId, stateTimestamp)
);

CREATE INDEX activityAlerts_builtAt ON activityAlerts (builtAt);

COMMENT ON TABLE activityAlerts IS 'Alerts of the last ten minutes. After two minutes nobody is alerted any more.';

-- What was put into the send queue for followers' devices that show no Live Activities. The row is locked while a send is stored.
CREATE TABLE liveSends (
    matchId          text COLLATE "C" PRIMARY KEY,
    -- Of the newest state that left; 0: none has.
    stateTimestamp   bigint           NOT NULL DEFAULT 0,
    sentAt           timestamptz,
    -- Increases with each send, so that an older one never replaces a newer one.
    sentOrder        bigint           NOT NULL DEFAULT 0,
    -- Alerts of states up to this one have left, or were merged; the one that was shown last.
    alertTimestamp   bigint           NOT NULL DEFAULT 0,
    shownAlert       bigint           NOT NULL DEFAULT 0,
    -- The latest send was the end.
    hasEnded         boolean          NOT NULL DEFAULT false,
    -- The latest send to Android devices, and to the others.
    liveUpdateSendId text COLLATE "C",
    keyEventSendId   text COLLATE "C"
);

COMMENT ON TABLE liveSends IS 'One row per subject: what was sent to devices without Live Activities.';

CREATE TABLE liveActivities (
    matchId              text COLLATE "C" NOT NULL,
    userId               text COLLATE "C" NOT NULL,
    deviceId             text COLLATE "C" NOT NULL,
    instance             integer          NOT NULL CHECK (instance > 0),
    status               activityStatus   NOT NULL,
    endReason            text             CHECK (endReason IN
        ('match_end', 'user_unfollow', 'user_dismissed', 'token_invalid', 'device_unregistered', 'rolled_over', 'stumps')),
    endCause             text,
    attributesType       text COLLATE "C" NOT NULL,
    app                  text COLLATE "C" NOT NULL,
    environment          pushEnvironment  NOT NULL,
    updateToken          text,
    updateTokenHash      text COLLATE "C",
    -- Of the token before. It may be posted once more, late, and is invalid then.
    replacedTokenHash    text COLLATE "C",
    tokenRegisteredAt    timestamptz,
    -- Rejections of the update token that our own configuration may have caused. Two in succession end the activity.
    suspectRefusals      integer          NOT NULL DEFAULT 0,
    -- Set instead of an update token if the device listens to a broadcast channel.
    channelId            text,
    createdAt            timestamptz      NOT NULL,
    -- Order in which starts are sent: devices that are close in time are not close in the table or the network.
    startOrder           integer          NOT NULL GENERATED ALWAYS AS (hashtext(deviceId)) STORED,
    startAttempts        integer          NOT NULL DEFAULT 0,
    startsDelivered      integer          NOT NULL DEFAULT 0,
    nextStartAt          timestamptz,
    startSentAt          timestamptz,
    startAcceptedAt      timestamptz,
    activatedAt          timestamptz,
    endedAt              timestamptz,
    lastTimestampSent    bigint           NOT NULL DEFAULT 0,
    -- Of the latest update. Used to skip superseded states.
    lastStateHash        text COLLATE "C",
    lastSentAt           timestamptz,
    -- When the device's hourly allowance of boundaries at priority 10 is full again; null if it is full. Each boundary adds an eighth of an
    -- hour.
    boundaryBudgetFullAt timestamptz,
    expiresAt            timestamptz,
    PRIMARY KEY (matchId, userId, deviceId, instance),
    CHECK ((status = 'ended') = (endReason IS NOT NULL)),
    CHECK (status <> 'active' OR updateToken IS NOT NULL OR channelId IS NOT NULL),
    CHECK ((updateToken IS NULL) = (updateTokenHash IS NULL))
);

-- At most one pending and one active instance. There are both only while a long activity is replaced by its next instance.
CREATE UNIQUE INDEX liveActivities_current ON liveActivities (matchId, userId, deviceId, status) WHERE status <> 'ended';
-- An update token belongs to one activity.
CREATE UNIQUE INDEX liveActivities_tokenOwner ON liveActivities (updateTokenHash) WHERE status = 'active' AND updateTokenHash IS NOT NULL;
CREATE INDEX liveActivities_active ON liveActivities (matchId, activatedAt) WHERE status = 'active';
CREATE INDEX liveActivities_channel ON liveActivities (matchId, channelId) WHERE channelId IS NOT NULL AND status <> 'ended';
CREATE INDEX liveActivities_startOrder ON liveActivities (matchId, startOrder) WHERE status = 'pending' AND nextStartAt IS NOT NULL;
CREATE INDEX liveActivities_device ON liveActivities (userId, deviceId) WHERE status <> 'ended';
-- Whether a start is due, without a look at those that wait for the person or for their outcome.
CREATE INDEX liveActivities_nextStartAt ON liveActivities (matchId, nextStartAt) WHERE status = 'pending' AND nextStartAt IS NOT NULL;
-- What is left of a subject that is over.
CREATE INDEX liveActivities_unexpired ON liveActivities (matchId) WHERE expiresAt IS NULL;
CREATE INDEX liveActivities_expiresAt ON liveActivities (expiresAt) WHERE expiresAt IS NOT NULL;

COMMENT ON TABLE liveActivities IS 'One row per Live Activity: subject, user, device and instance.';
COMMENT ON COLUMN liveActivities.matchId IS 'The subject: a matchId, or ''<attributesType>/<activityId>''.';
COMMENT ON COLUMN liveActivities.userId IS 'The user.';
COMMENT ON COLUMN liveActivities.deviceId IS 'The device.';
COMMENT ON COLUMN liveActivities.instance IS
    '1 for the first activity about the subject on the device. A start after an end creates the next instance.';
COMMENT ON COLUMN liveActivities.status IS 'Status of the activity.';
COMMENT ON COLUMN liveActivities.endReason IS
    'Why it ended: match_end, user_unfollow, user_dismissed, token_invalid, device_unregistered, rolled_over or stumps; NULL until then.';
COMMENT ON COLUMN liveActivities.endCause IS
    'More specific than endReason: ''stale'' if the app ended the activity because updates stopped, ''feed_silent'' with match_end if nothing confirmed the subject for too long, ''channel_gone'' with token_invalid if the provider no longer has its channel; NULL if there is nothing to add.';
COMMENT ON COLUMN liveActivities.attributesType IS 'Name of the ActivityAttributes struct.';
COMMENT ON COLUMN liveActivities.app IS
    'Bundle id, copied from the device: the activity may have to be ended after the device was deleted.';
COMMENT ON COLUMN liveActivities.environment IS 'Environment of the token, copied from the device.';
COMMENT ON COLUMN liveActivities.createdAt IS 'When the row was inserted.';
COMMENT ON COLUMN liveActivities.startAttempts IS 'Number of attempts of starts of this instance.';
COMMENT ON COLUMN liveActivities.startsDelivered IS 'Number of starts that may have reached the device.';
COMMENT ON COLUMN liveActivities.nextStartAt IS
    'When the next start is to be put into the send queue; NULL: never, or not before the outcome of the one that is there.';
COMMENT ON COLUMN liveActivities.startSentAt IS 'When the latest start was claimed for an attempt; NULL if none was.';
COMMENT ON COLUMN liveActivities.startAcceptedAt IS 'When the provider last accepted a start; NULL if it accepted none.';
COMMENT ON COLUMN liveActivities.activatedAt IS
    'When the active activity appeared on the device: at its start, or when its token was reported if the app started it; NULL if it did not.';
COMMENT ON COLUMN liveActivities.endedAt IS 'When it ended; NULL until then.';
COMMENT ON COLUMN liveActivities.lastTimestampSent IS
    'aps.timestamp of the latest update that was sent to the device, in seconds since 1970; 0 if none was.';
COMMENT ON COLUMN liveActivities.lastSentAt IS 'When the latest update was sent to the device; NULL if none was.';
COMMENT ON COLUMN liveActivities.expiresAt IS 'When the row is deleted; NULL until the subject ended.';
COMMENT ON COLUMN liveActivities.updateToken IS 'The encrypted update token. Never to be granted to analysts, logged or shown.';

-- Rows are inserted when a start is put into the send queue. The start budget of a device is counted here.
CREATE TABLE activityStarts (
    deliveryId    bigint           PRIMARY KEY,
    matchId       text COLLATE "C" NOT NULL,
    userId        text COLLATE "C" NOT NULL,
    deviceId      text COLLATE "C" NOT NULL,
    instance      integer          NOT NULL,
    claimedAt     timestamptz      NOT NULL,
    outcome       text             CHECK (outcome IN ('accepted', 'rejected', 'unknown', 'notSent')),
    adoptedAt     timestamptz,
    byChannel     boolean          NOT NULL DEFAULT false
);

CREATE INDEX activityStarts_device ON activityStarts (deviceId, claimedAt);
CREATE INDEX activityStarts_claimedAt ON activityStarts USING brin (claimedAt);
CREATE INDEX activityStarts_open ON activityStarts (claimedAt) WHERE outcome IS NULL;

COMMENT ON TABLE activityStarts IS 'One row per push-to-start that was put into the send queue, with its outcome.';
COMMENT ON COLUMN activityStarts.deliveryId IS 'The delivery, in pushDeliveries.';
COMMENT ON COLUMN activityStarts.matchId IS 'The subject: a matchId, or ''<attributesType>/<activityId>''.';
COMMENT ON COLUMN activityStarts.userId IS 'The user.';
COMMENT ON COLUMN activityStarts.deviceId IS 'The device.';
COMMENT ON COLUMN activityStarts.instance IS 'Instance of the activity, in liveActivities.';
COMMENT ON COLUMN activityStarts.claimedAt IS
    'When it was put into the queue; from its first attempt on, when it was claimed for the latest one.';
COMMENT ON COLUMN activityStarts.outcome IS
    'accepted; rejected; unknown: the start may have reached the device; notSent: it ended without an attempt; NULL: still in the queue.';
COMMENT ON COLUMN activityStarts.adoptedAt IS 'When the app reported the update token of the activity; NULL if it did not.';
COMMENT ON COLUMN activityStarts.byChannel IS 'The accepted start named a broadcast channel. The app then reports no update token.';

-- The row is inserted before the channel is created at the provider, and deleted after the channel was deleted there.
CREATE TABLE activityChannels (
    matchId              text COLLATE "C" NOT NULL,
    app                  text COLLATE "C" NOT NULL,
    environment          pushEnvironment  NOT NULL,
    -- Null until the provider has created the channel, and again if the provider no longer has it.
    channelId            text,
    createdAt            timestamptz      NOT NULL,
    -- When the channel is to be created, or when a creation that was claimed may be claimed again; null if it exists.
    createDueAt          timestamptz,
    createAttempts       integer          NOT NULL DEFAULT 0,
    -- Starts wait for the channel until then, and use update tokens afterwards.
    waitUntil            timestamptz,
    refusal              text,
    lastTimestampSent    bigint           NOT NULL DEFAULT 0,
    -- Of the latest update. Used to skip superseded states.
    lastStateHash        text COLLATE "C",
    lastSentAt           timestamptz,
    boundaryBudgetFullAt timestamptz,
    -- When the latest state is sent again, because a start with an older one was accepted; null otherwise.
    catchUpAt            timestamptz,
    retiredAt            timestamptz,
    -- When the next end push is due, attempts of it, and how many end pushes were sent.
    endDueAt             timestamptz,
    endAttempts          integer          NOT NULL DEFAULT 0,
    endsSent             integer          NOT NULL DEFAULT 0,
    -- When the channel is to be deleted at the provider.
    deleteDueAt          timestamptz,
    deleteAttempts       integer          NOT NULL DEFAULT 0,
    PRIMARY KEY (matchId, app, environment)
);

CREATE UNIQUE INDEX activityChannels_channelId ON activityChannels (app, environment, channelId) WHERE channelId IS NOT NULL;

COMMENT ON TABLE activityChannels IS 'Broadcast channels (iOS 18): one per subject, app and environment.';
COMMENT ON COLUMN activityChannels.matchId IS 'The subject: a matchId, or ''<attributesType>/<activityId>''.';
COMMENT ON COLUMN activityChannels.app IS 'Bundle id.';
COMMENT ON COLUMN activityChannels.environment IS 'Environment of the channel.';
COMMENT ON COLUMN activityChannels.createdAt IS 'When the row was inserted, before the channel is created at the provider.';
COMMENT ON COLUMN activityChannels.createAttempts IS 'Number of attempts to create the channel at the provider.';
COMMENT ON COLUMN activityChannels.refusal IS 'The provider''s code if the channel could not be created; otherwise NULL.';
COMMENT ON COLUMN activityChannels.lastTimestampSent IS
    'aps.timestamp of the latest update that was sent to the channel, in seconds since 1970; 0 if none was.';
COMMENT ON COLUMN activityChannels.lastSentAt IS 'When the latest update was sent to the channel; NULL if none was.';
COMMENT ON COLUMN activityChannels.retiredAt IS 'When the subject ended; NULL until then.';
COMMENT ON COLUMN activityChannels.endsSent IS 'Number of end pushes that were sent.';

-- An app can have 10,000 channels in each environment.
CREATE TABLE activityChannelScopes (
    app         text COLLATE "C" NOT NULL,
    environment pushEnvironment  NOT NULL,
    -- When the channels at the provider are to be listed next.
    listDueAt   timestamptz      NOT NULL,
    listedAt    timestamptz,
    channels    integer,
    unknown     integer,
    pausedUntil timestamptz,
    refusal     text,
    PRIMARY KEY (app, environment)
);

COMMENT ON TABLE activityChannelScopes IS 'Apps and environments that have broadcast channels, with the latest list of the provider.';
COMMENT ON COLUMN activityChannelScopes.app IS 'Bundle id.';
COMMENT ON COLUMN activityChannelScopes.environment IS 'Environment of the channels.';
COMMENT ON COLUMN activityChannelScopes.listedAt IS 'When the channels at the provider were last listed; NULL if they were not.';
COMMENT ON COLUMN activityChannelScopes.channels IS 'Number of channels at that time; NULL if they were not listed.';
COMMENT ON COLUMN activityChannelScopes.unknown IS 'Number of them that are not in activityChannels; NULL if they were not listed.';
COMMENT ON COLUMN activityChannelScopes.pausedUntil IS
    'No channel is created until then, because the provider rejected one for a reason that also applies to others; NULL if it rejected none.';
COMMENT ON COLUMN activityChannelScopes.refusal IS 'The provider''s code of that rejection; NULL if there is none.';

-- For example, the process ended after it created a channel and before it could store its id; or somebody else created the channel.
CREATE TABLE activityChannelOrphans (
    app         text COLLATE "C" NOT NULL,
    environment pushEnvironment  NOT NULL,
    channelId   text             NOT NULL,
    seenAt      timestamptz      NOT NULL,
    -- Null if the channel is not known to be ours.
    deleteDueAt timestamptz,
    attempts    integer          NOT NULL DEFAULT 0,
    PRIMARY KEY (app, environment, channelId)
);

COMMENT ON TABLE activityChannelOrphans IS 'Broadcast channels at the provider that belong to no subject.';

-- Every token by its hash: its kind, whose it is, and since when it is in its state. A dead token that belongs to no device has no kind.
CREATE VIEW tokenRegistry AS
SELECT pushTokenHash AS tokenHash, provider, app, 'push' AS kind, userId, deviceId, NULL AS subject, tokenState AS state,
    tokenStateCause AS cause, tokenStateSince AS since
FROM devices
UNION ALL
SELECT pushToStartTokenHash, 'apns', app, 'pushToStart', userId, deviceId, NULL, pushToStartTokenState, pushToStartTokenCause,
    pushToStartTokenSince
FROM devices WHERE pushToStartTokenHash IS NOT NULL
UNION ALL
SELECT tokenHash, 'apns', app, 'pushToStart', userId, deviceId, attributesType, state, cause, since FROM deviceStartTokens
UNION ALL
SELECT updateTokenHash, 'apns', app, 'update', userId, deviceId, matchId, 'active', NULL, tokenRegisteredAt
FROM liveActivities WHERE status = 'active' AND updateTokenHash IS NOT NULL
UNION ALL
SELECT tokenHash, provider, app, NULL, NULL, NULL, NULL, 'inactive', cause, since FROM deadTokens;

COMMENT ON VIEW tokenRegistry IS 'What is known of each token: kind, owner, app, state and since when.';
COMMENT ON COLUMN tokenRegistry.tokenHash IS 'Hash of the token: ''sha256:'' and 64 hex digits.';
COMMENT ON COLUMN tokenRegistry.provider IS 'Provider of the token.';
COMMENT ON COLUMN tokenRegistry.app IS 'Bundle id or FCM app.';
COMMENT ON COLUMN tokenRegistry.kind IS
    'push, pushToStart, or update (of a Live Activity); NULL for a dead token that belongs to no device.';
COMMENT ON COLUMN tokenRegistry.userId IS 'The user of the device; NULL if it belongs to no device.';
COMMENT ON COLUMN tokenRegistry.deviceId IS 'The device; NULL if it belongs to none.';
COMMENT ON COLUMN tokenRegistry.subject IS
    'Of a start token the attributes type, of an update token the subject of the activity; NULL for other tokens.';
COMMENT ON COLUMN tokenRegistry.state IS 'State of the token.';
COMMENT ON COLUMN tokenRegistry.cause IS
    'Why it is not active: the provider''s code, ''moved'' or ''unregistered''; NULL if it is active.';
COMMENT ON COLUMN tokenRegistry.since IS 'Since when it is in this state; of an update token, when it was registered.';
