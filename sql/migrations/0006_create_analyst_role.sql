-- Analysts: the role pushwatch_analyst, what it may read, and two views that spare everybody the storage's details.
--
-- Lock: SHARE-like catalogue locks of GRANT for a moment; no table is rewritten or blocked.
--
-- The role belongs to the whole cluster, so several databases may share it; one that exists is left as it is. A migrating user without
-- CREATEROLE gets a warning instead, everything else is done, and once somebody has made the role (sql/README.md, Roles) the table
-- owner runs SELECT grantAnalystAccess().
--
-- Access is by columns, so that a column added later is closed until somebody opens it here. Never granted: device tokens, keys,
-- secrets, the content of sends, and the ledger with its state: a reader of those two would make the rotation, and with it every
-- writer, wait. Partitions need no grants of their own; reading through the parent asks the parent alone. The views run with their
-- reader's rights (security_invoker), so the grants below are the one place that decides, also where tables are distributed.

CREATE VIEW attemptsPerMinute WITH (security_invoker = true) AS
    SELECT minute, provider, platform, eventType, status,
           nullif(reasonCode, '') AS reasonCode, nullif(app, '') AS app, nullif(environment, '') AS environment,
           nullif(pushType, '') AS pushType,
           sum(attempts)::bigint AS attempts, sum(latencyMsSum)::bigint AS latencyMsSum, sum(latencyCount)::bigint AS latencyCount
    FROM attemptRollups
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    -- An attempt that moved on from 'queued' leaves a zero behind.
    HAVING sum(attempts) <> 0;

COMMENT ON VIEW attemptsPerMinute IS 'attemptRollups summed over writerSlot, with NULL where an attempt has no value. Filter by minute.';

CREATE VIEW pushDeliveryStates WITH (security_invoker = true) AS
    SELECT delivery.deliveryId, delivery.sendId, delivery.uid, delivery.deviceId, delivery.platform, delivery.provider,
           delivery.environment, delivery.app, delivery.createdAt,
           -- In exactly one of the five tables; what is in none of the other four is ready.
           CASE WHEN finished.deliveryId IS NOT NULL THEN finished.outcome
                WHEN dead.deliveryId IS NOT NULL THEN dead.outcome
                WHEN leased.deliveryId IS NOT NULL THEN 'sending'
                WHEN scheduled.deliveryId IS NOT NULL THEN 'scheduled'
                ELSE 'ready' END AS state,
           coalesce(finished.attempts, dead.attempts, leased.attemptNumber - 1, scheduled.attemptNumber - 1) AS attempts,
           coalesce(dead.reasonCode, scheduled.reasonCode) AS reasonCode, dead.providerErrorCode,
           coalesce(finished.finishedAt, dead.finishedAt) AS finishedAt, scheduled.runAt AS nextTryAt
    FROM pushDeliveries AS delivery
    LEFT JOIN pushFinished AS finished USING (deliveryId)
    LEFT JOIN pushDead AS dead USING (deliveryId)
    LEFT JOIN pushLeases AS leased USING (deliveryId)
    LEFT JOIN pushScheduled AS scheduled USING (deliveryId);

COMMENT ON VIEW pushDeliveryStates IS 'One row per delivery: where it stands. attempts is NULL while it waits for its first or next turn.';

-- Opens to pushwatch_analyst what an analyst may read. May be run again; a migration that adds something for analysts replaces it.
CREATE FUNCTION grantAnalystAccess() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    opened record;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO pushwatch_analyst', current_schema());
    FOR opened IN SELECT * FROM (VALUES
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
        ('alertEpisodes', 'episodeId, rule, ruleVersion, groupKey, groupLabels, labels, severity, state, startsAt, firedAt, endsAt,
            resolvedAt, resolvedReason, detectedLateBySeconds, evidence, contributors, backlog, reproduceSql, annotations,
            acknowledgedAt, acknowledgedBy, silencedBy, revised, heldSince, updatedAt'),
        ('alertTransitions', 'episodeId, seq, kind, reason, minute, evidence, annotations, recordedAt'),
        ('alertDeliveries', 'deliveryId, episodeId, receiver, seq, result, attemptedAt, status, latencyMs'),
        ('alertSilences', 'silenceId, matchers, startsAt, endsAt, author, reason, createdAt'),
        ('alertBaselineDays', 'rule, ruleVersion, stratum, day, attempts, bad, excludedMinutes')
    ) AS opened (relation, columns)
    LOOP
        EXECUTE format('GRANT SELECT (%s) ON %s TO pushwatch_analyst', opened.columns, opened.relation);
    END LOOP;
END
$$;

REVOKE EXECUTE ON FUNCTION grantAnalystAccess() FROM PUBLIC;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushwatch_analyst') THEN
        BEGIN
            -- A login, since limits of a role do not pass on to its members; without a password nobody can use it until it gets one.
            CREATE ROLE pushwatch_analyst LOGIN CONNECTION LIMIT 8;
            -- What a session starts with. A user may lift these again; AnalystWatchdog holds those who do to the same.
            ALTER ROLE pushwatch_analyst SET default_transaction_read_only = on;
            ALTER ROLE pushwatch_analyst SET statement_timeout = '60s';
            ALTER ROLE pushwatch_analyst SET idle_in_transaction_session_timeout = '30s';
            ALTER ROLE pushwatch_analyst SET lock_timeout = '5s';
            ALTER ROLE pushwatch_analyst SET timezone = 'UTC';
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                -- Another database's migration was quicker.
                NULL;
            WHEN insufficient_privilege THEN
                RAISE WARNING 'The role pushwatch_analyst was not made: % lacks CREATEROLE.', current_user
                    USING HINT = 'Make it as sql/README.md says, then run SELECT grantAnalystAccess() as the owner of the tables.';
        END;
    END IF;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushwatch_analyst') THEN PERFORM grantAnalystAccess(); END IF;
END
$$;
