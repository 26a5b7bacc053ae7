-- What starting and recovering need beside 0009: the order of starts, the count of delivered ones, and what a lost start was.
--
-- Lock: ACCESS EXCLUSIVE on liveActivities and activityStarts for a rewrite; both are new and small.

ALTER TABLE liveActivities
    -- Starts go out in this order, so that neighbours in time are not neighbours in any table or network.
    ADD COLUMN startOrder integer NOT NULL GENERATED ALWAYS AS (hashtext(deviceId)) STORED,
    -- Starts of this generation that may have reached the device.
    ADD COLUMN startsDelivered integer NOT NULL DEFAULT 0,
    -- Finer than endReason: 'stale' when the app ended it for want of updates.
    ADD COLUMN endCause text,
    -- Refusals of the update token that may be our own fault; two in a row end the activity.
    ADD COLUMN suspicions integer NOT NULL DEFAULT 0;

DROP INDEX liveActivities_startDue;
CREATE INDEX liveActivities_startOrder ON liveActivities (matchId, startOrder) WHERE status = 'pending' AND nextStartAt IS NOT NULL;

-- So that a start whose sender died before it could write the outcome gets its attempt from whoever comes next.
ALTER TABLE activityStarts
    ADD COLUMN tokenHash text COLLATE "C" NOT NULL,
    ADD COLUMN attemptNumber integer NOT NULL;

CREATE INDEX activityStarts_open ON activityStarts (claimedAt) WHERE outcome IS NULL;

INSERT INTO analystColumns VALUES
    ('follows', 'userId, matchId, deviceId, followedAt, expiresAt'),
    ('liveActivities', 'matchId, userId, deviceId, generation, status, endReason, endCause, attributesType, app, environment, createdAt,
        startAttempts, startsDelivered, nextStartAt, startSentAt, startAcceptedAt, activatedAt, endedAt, lastTimestampSent, lastSentAt,
        endDueAt, endAttempts, expiresAt'),
    ('activityStarts', 'startId, matchId, userId, deviceId, generation, claimedAt, outcome, adoptedAt'),
    ('activeMatches', 'matchId, phase, displayState, seq, stateTimestamp, stateBuiltAt, previousScores, cooldowns, lastBalls,
        pollerState, owner, leaseUntil, epoch, startsAt, wentLiveAt, endedAt, lastUpdatedAt, expiresAt');

SELECT openToAnalysts();
