-- What analysts may read becomes a list in a table, so that a later migration opens its columns with one INSERT; and three things are
-- opened that dashboards ask for: who wrote in which minute, how far each rule is evaluated, and what waits to be delivered.
--
-- Lock: SHARE-like catalogue locks of GRANT for a moment; no table is rewritten or blocked.
--
-- A migration that adds something for analysts ends with:
--     INSERT INTO analystColumns VALUES ('someTable', 'oneColumn, another');
--     SELECT openToAnalysts();

CREATE TABLE analystColumns (
    relation text PRIMARY KEY,
    -- Comma-separated. Never: device tokens, keys, secrets, the content of sends, the ledger and its state.
    columns  text NOT NULL
);

COMMENT ON TABLE analystColumns IS 'What pushwatch_analyst may read, column by column; grantAnalystAccess() grants it.';

INSERT INTO analystColumns VALUES
    ('notificationDeliveryAttempts', 'attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode, providerErrorCode,
        attemptedAt, requestId, app, environment, pushType, appVersion, providerMessageId, latencyMs, sendId, receivedAt, attemptKey'),
    ('attemptRollups', 'minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, writerSlot, attempts,
        latencyMsSum, latencyCount'),
    ('attemptsPerMinute', 'minute, provider, platform, eventType, status, reasonCode, app, environment, pushType, attempts,
        latencyMsSum, latencyCount'),
    ('devices', 'userId, deviceId, platform, provider, environment, app, pushTokenHash, tokenState, tokenStateCause, tokenStateSince,
        osVersion, appVersion, registeredAt, tokenRegisteredAt, lastSeenAt, expiresAt'),
    ('pushLanes', 'lane, app, provider, critical'),
    ('pushSends', 'sendId, requestId, author, critical, policy, createdAt, notBefore, expiresAt'),
    ('pushDeliveries', 'deliveryId, sendId, lane, uid, deviceId, platform, provider, environment, app, tokenHash, createdAt'),
    ('pushReady', 'lane, deliveryId, attemptNumber, readyAt'),
    ('pushScheduled', 'deliveryId, lane, runAt, attemptNumber, reasonCode'),
    ('pushLeases', 'deliveryId, lane, attemptNumber, worker, claimedAt, leaseUntil'),
    ('pushFinished', 'deliveryId, lane, outcome, attempts, providerMessageId, finishedAt'),
    ('pushDead', 'deliveryId, lane, outcome, attempts, reasonCode, providerErrorCode, finishedAt'),
    ('pushDeliveryStates', 'deliveryId, sendId, uid, deviceId, platform, provider, environment, app, createdAt, state, attempts,
        reasonCode, providerErrorCode, finishedAt, nextTryAt'),
    ('pushThrottles', 'provider, app, perMinute, reason, author, createdAt, expiresAt'),
    ('writerHeartbeats', 'minute, writer'),
    ('alertRuleProgress', 'rule, ruleVersion, asOf, evaluatedAt'),
    ('alertEpisodes', 'episodeId, rule, ruleVersion, groupKey, groupLabels, labels, severity, state, startsAt, firedAt, endsAt,
        resolvedAt, resolvedReason, detectedLateBySeconds, evidence, contributors, backlog, reproduceSql, annotations,
        acknowledgedAt, acknowledgedBy, silencedBy, revised, heldSince, updatedAt'),
    ('alertTransitions', 'episodeId, seq, kind, reason, minute, evidence, annotations, recordedAt'),
    ('alertOutbox', 'episodeId, receiver, seq, kind, state, attempts, nextAttemptAt, createdAt, settledAt'),
    ('alertDeliveries', 'deliveryId, episodeId, receiver, seq, result, attemptedAt, status, latencyMs'),
    ('alertSilences', 'silenceId, matchers, startsAt, endsAt, author, reason, createdAt'),
    ('alertBaselineDays', 'rule, ruleVersion, stratum, day, attempts, bad, excludedMinutes');

-- May be run again; it changes nothing but grants.
CREATE OR REPLACE FUNCTION grantAnalystAccess() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    opened analystColumns;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO pushwatch_analyst', current_schema());
    FOR opened IN SELECT * FROM analystColumns ORDER BY relation LOOP
        EXECUTE format('GRANT SELECT (%s) ON %s TO pushwatch_analyst', opened.columns, opened.relation);
    END LOOP;
END
$$;

-- For migrations: grants, if the role exists; without it there is nobody to grant to yet (sql/README.md, Roles).
CREATE FUNCTION openToAnalysts() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushwatch_analyst') THEN PERFORM grantAnalystAccess(); END IF;
END
$$;

REVOKE EXECUTE ON FUNCTION openToAnalysts() FROM PUBLIC;

SELECT openToAnalysts();
