-- Analysts: the role pushwatch_analyst and the columns that it can read.
--
-- Locks: those of GRANT, briefly. No table is rewritten.
--
-- Roles belong to the cluster, so several databases may share this one. A role that exists is not changed. If the current user lacks
-- CREATEROLE, the migration issues a warning and continues; create the role later (sql/README.md, Roles), and run
-- SELECT grantAnalystAccess() as the owner of the tables.
--
-- Access is by column, so that a column that is added later is not readable until it is listed here. Partitions need no grants, because
-- queries read them through their parent. The views have security_invoker, so these grants also decide what can be read through them.
--
-- A later migration that adds columns for analysts says what they are with COMMENT ON COLUMN, and ends with:
--     INSERT INTO analystColumns (relation, columns) VALUES ('someTable', 'oneColumn, another');
--     SELECT openToAnalysts();

CREATE TABLE analystColumns (
    relation text PRIMARY KEY,
    -- Comma-separated.
    columns  text NOT NULL
);

COMMENT ON TABLE analystColumns IS 'What pushwatch_analyst can read, column by column. grantAnalystAccess() grants it.';

-- Never: device tokens, keys, secrets, the content of sends. Nor the ledger and its state: a reader of those would block the rotation,
-- and with it every writer.
INSERT INTO analystColumns (relation, columns) VALUES
    ('notificationDeliveryAttempts', 'attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode, providerErrorCode,
        attemptedAt, requestId, app, environment, pushType, appVersion, providerMessageId, latencyMs, sendId, receivedAt, attemptKey,
        foldedLabels'),
    ('attemptRollups', 'minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, writerSlot, attempts,
        latencyMsSum, latencyCount, appMajor'),
    ('attemptLabels', 'attemptedAt, minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, appMajor,
        appVersion, providerErrorCode, uid, tokenHash, attempts'),
    ('attemptLatencies', 'minute, provider, app, upToMs, writerSlot, attempts'),
    ('attemptsPerMinute', 'minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, attempts,
        latencyMsSum, latencyCount'),
    ('instances', 'instance, at, host, version, startedAt, roles, credentials, tokenKeys, clockAheadSeconds'),
    ('writerHeartbeats', 'minute, writer, reportedAt, uncommittedSince'),
    ('providerCodeDays', 'day, provider, code, firstAt, attempts'),
    ('foldedLabelDays', 'day, author, label, attempts, foldedAt'),

    ('auditEntries', 'entryId, at, actor, callerKind, keyId, action, subject, detail, before, after'),

    ('devices', 'userId, deviceId, platform, provider, environment, app, pushTokenHash, tokenState, tokenStateCause, tokenStateSince,
        osVersion, appVersion, locale, registeredAt, tokenRegisteredAt, lastSeenAt, expiresAt, pushToStartTokenHash, pushToStartTokenState,
        pushToStartTokenCause, pushToStartTokenSince, pushToStartRegisteredAt, environmentTrial'),
    ('deviceStartTokens', 'userId, deviceId, attributesType, app, tokenHash, state, cause, since, registeredAt'),
    ('deadTokens', 'tokenHash, provider, app, cause, since'),
    ('tokenRegistry', 'tokenHash, provider, app, kind, userId, deviceId, subject, state, cause, since'),
    ('deviceReregistrationHours', 'hour, provider, app, devices, reregistered'),
    ('tokenOutcomes', 'provider, app, environment, credential, minute, writerSlot, total, ambiguous, gone'),
    ('deactivationLimiters', 'limiterId, provider, app, environment, credential, openedAt, windowFrom, total, ambiguous, gone, cause,
        closedAt, closedBy, resolution, cooldownUntil'),
    ('tokenDeactivations', 'deactivationId, userId, deviceId, tokenHash, registrationVersion, provider, app, environment, credential,
        verdict, previousState, state, cause, attemptId, limiterId, deactivatedAt, undoneAt, undoneBy'),
    ('audiences', 'audienceId, author, createdAt, changedAt'),
    ('audienceMembers', 'audienceId, uid'),

    ('pushQueues', 'queue, app, provider, environment, class'),
    ('pushSends', 'sendId, requestId, author, class, policy, createdAt, notBefore, expiresAt, skipped'),
    ('pushDeliveries', 'deliveryId, sendId, kind, queue, uid, deviceId, platform, tokenHash, createdAt'),
    ('pushReady', 'queue, deliveryId, attemptNumber, readyAt'),
    ('pushScheduled', 'deliveryId, queue, runAt, attemptNumber, reasonCode, circuitId'),
    ('pushLeases', 'worker, claimedAt, leaseUntil, probeOf, deliveryIds, attemptNumbers, released'),
    ('pushLeasedDeliveries', 'deliveryId, queue, attemptNumber, worker, claimedAt, leaseUntil, probeOf'),
    ('pushFinished', 'deliveryId, queue, outcome, attempts, finishedAt'),
    ('pushFinishedSingles', 'deliveryId, queue, outcome, attempts, providerMessageId, finishedAt'),
    -- What pushDeliveryStates reads.
    ('pushOutcomes', 'writtenAt, sent, firstSent, lastSent'),
    ('pushDead', 'deliveryId, queue, outcome, attempts, reasonCode, providerErrorCode, finishedAt'),
    ('pushDeliveryStates', 'deliveryId, sendId, kind, uid, deviceId, platform, provider, environment, app, createdAt, state, attempts,
        reasonCode, providerErrorCode, finishedAt, nextAttemptAt'),
    ('pushCircuits', 'circuitId, kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt, refusals, probes,
        nextProbeAt, closedAt, closedBy'),
    ('pushRateLimitPauses', 'provider, app, cause, since, pausedUntil, requestedUntil, number'),
    ('pushThrottles', 'provider, app, perMinute, reason, author, createdAt, expiresAt, share'),
    ('sendBacklogMinutes', 'minute, provider, waiting, oldestSeconds'),
    ('circuitMinutes', 'circuitId, reasonCode, minute, provider, app, environment, platform, cause, since, waiting'),

    ('alertRuleProgress', 'rule, ruleVersion, asOf, evaluatedAt'),
    ('alerts', 'alertId, rule, ruleVersion, groupKey, groupLabels, labels, severity, state, startsAt, firedAt, endsAt, resolvedAt,
        resolvedReason, detectedLateBySeconds, evidence, contributors, backlog, reproduceSql, annotations, acknowledgedAt,
        acknowledgedBy, silencedBy, revised, noDataSince, updatedAt, affected, suppressedBy, impact,
        escalationStep, escalationSince'),
    ('alertTransitions', 'alertId, seq, kind, reason, minute, evidence, annotations, recordedAt'),
    ('notifications', 'alertId, receiver, seq, kind, state, attempts, nextAttemptAt, createdAt, settledAt, messageId'),
    ('notificationAttempts', 'notificationAttemptId, alertId, receiver, seq, result, attemptedAt, status, latencyMs, messageId'),
    ('alertSilences', 'silenceId, matchers, startsAt, endsAt, author, reason, createdAt'),
    ('alertMarks', 'alertId, verdict, author, markedAt'),
    ('alertBaselineDays', 'rule, ruleVersion, stratum, day, hourAttempts, hourBad, excludedMinutes, storedAt'),
    ('alertBaselineExclusions', 'fromAt, toAt, reason, author, createdAt'),
    ('alertAcceptances', 'acceptanceId, alertId, rule, groupKey, groupLabels, author, reason, acceptedAt, effectiveFrom, level, undoneAt,
        undoneBy, effectiveTo'),

    ('feedMinutes', 'minute, feed, subjects, followers, silentSeconds'),
    ('follows', 'userId, matchId, deviceId, startsHereAt, position, onlyDeviceId, followedAt, expiresAt'),
    ('activeMatches', 'matchId, phase, displayState, seq, stateTimestamp, stateBuiltAt, previousScores, cooldowns, lastBalls,
        pollerState, feedUrl, feedPriority, owner, leaseUntil, epoch, startPriority, startsAt, wentLiveAt, endedAt,
        lastUpdatedAt, confirmedAt, freshFor, expiresAt, releasedAt'),
    ('activitySubjects', 'subject, attributesType, createdAt, lastUpdatedAt, confirmedAt, freshFor, endedAt, releasedAt'),
    ('subjectSources', 'subject, source, isLive, confirmedAt, freshFor, silentAfter, affectsAfter'),
    ('liveActivities', 'matchId, userId, deviceId, instance, status, endReason, endCause, attributesType, app, environment, createdAt,
        startAttempts, startsDelivered, nextStartAt, startSentAt, startAcceptedAt, activatedAt, endedAt, lastTimestampSent, lastSentAt,
        expiresAt'),
    ('activityStarts', 'deliveryId, matchId, userId, deviceId, instance, claimedAt, outcome, adoptedAt, byChannel'),
    ('activityChannels', 'matchId, app, environment, createdAt, createAttempts, refusal, lastTimestampSent, lastSentAt, retiredAt,
        endsSent'),
    ('activityChannelScopes', 'app, environment, listedAt, channels, unknown, pausedUntil, refusal');

CREATE FUNCTION grantAnalystAccess() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    opened analystColumns;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO pushwatch_analyst', current_schema());
    FOR opened IN SELECT * FROM analystColumns ORDER BY relation LOOP
        EXECUTE format('GRANT SELECT (%s) ON %s TO pushwatch_analyst', opened.columns, opened.relation);
    END LOOP;
END
$$;

COMMENT ON FUNCTION grantAnalystAccess IS 'Grants to pushwatch_analyst what analystColumns lists. Can be run repeatedly.';

CREATE FUNCTION openToAnalysts() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushwatch_analyst') THEN PERFORM grantAnalystAccess(); END IF;
END
$$;

COMMENT ON FUNCTION openToAnalysts IS 'For migrations: grantAnalystAccess() if the role exists.';

REVOKE EXECUTE ON FUNCTION grantAnalystAccess(), openToAnalysts() FROM PUBLIC;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushwatch_analyst') THEN
        BEGIN
            -- A login role, because members do not inherit the limits of a role. It has no password, so nobody can log in until one is set.
            CREATE ROLE pushwatch_analyst LOGIN CONNECTION LIMIT 8;
            -- Defaults of a session. A user can change them; then AnalystWatchdog enforces the same limits.
            ALTER ROLE pushwatch_analyst SET default_transaction_read_only = on;
            ALTER ROLE pushwatch_analyst SET statement_timeout = '60s';
            ALTER ROLE pushwatch_analyst SET idle_in_transaction_session_timeout = '30s';
            ALTER ROLE pushwatch_analyst SET lock_timeout = '5s';
            ALTER ROLE pushwatch_analyst SET timezone = 'UTC';
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                -- The migration of another database created it at the same time.
                NULL;
            WHEN insufficient_privilege THEN
                RAISE WARNING 'role pushwatch_analyst was not created: % lacks CREATEROLE', current_user
                    USING HINT = 'Create it as described in sql/README.md, then run SELECT grantAnalystAccess() as the owner of the tables.';
        END;
    END IF;
    PERFORM openToAnalysts();
END
$$;
