-- Roles: one for each job of an instance, and what it may do.
--
-- Run after the migrations, each time they are run, so that the tables of a new migration are granted too. Changes nothing but roles and
-- grants. Can be run again by hand, as the owner of the tables.
--
--   the owner           migrations and partitions: `pushwatch migrate` and admin.database.url. Any name
--   pushwatch_ingest    an instance with the role api
--   pushwatch_sender    an instance with the roles send and live
--   pushwatch_alerter   an instance with the role alert
--   pushwatch_analyst   people who query the database (0007_grant_analysts.sql)
--
-- The first three after the owner are groups without a login. An instance logs in as a member of the groups of its roles
-- (docs/operations.md, Database roles). None of them can change the schema, truncate a table, delete attempts, create or extend an API key,
-- or change an audit entry.
--
-- Locks: those of GRANT, briefly, after the row lock of everything that changes the schema (a running server creates partitions).
-- Roles belong to the cluster. A role that exists is not changed.
DO $$
DECLARE
    job     text;
    target  record;
    granted text;
    opened  analystColumns;
    place   text := current_schema();
BEGIN
    PERFORM name FROM schemaLocks WHERE name = 'schema' FOR UPDATE;
    FOREACH job IN ARRAY ARRAY['pushwatch_ingest', 'pushwatch_sender', 'pushwatch_alerter'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = job) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', job);
            EXCEPTION
                WHEN duplicate_object OR unique_violation THEN
                    -- The migration of another database created it at the same time.
                    NULL;
                WHEN insufficient_privilege THEN
                    RAISE WARNING 'role % was not created: % lacks CREATEROLE', job, current_user
                        USING HINT = 'Create it as a role that has CREATEROLE, then run pushwatch migrate again.';
            END;
        END IF;
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_roles WHERE rolname = job);
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), job);
        EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO %I', current_schema(), job);
        FOR target IN
            SELECT relname AS name, relkind = 'v' AS isView,
                   -- Tables of the layer Alerting, and the series that the evaluator samples for rules.
                   relname ~ '^alert' OR relname IN ('notifications', 'notificationattempts', 'sendbacklogminutes', 'circuitminutes', 'feedminutes',
                       'providercodedays', 'devicereregistrationhours') AS isAlerting
            FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition
            ORDER BY relname
        LOOP
            granted := CASE job
                WHEN 'pushwatch_ingest' THEN CASE
                    WHEN target.name = 'schemalocks' THEN NULL
                    WHEN target.name = 'keylocks' THEN 'SELECT, UPDATE'
                    WHEN target.isView OR target.name IN ('schemamigrations', 'analystcolumns', 'ledgerstate', 'apikeys') THEN 'SELECT'
                    WHEN target.name IN ('notificationdeliveryattempts', 'attemptledger', 'attemptrollups', 'attemptlatencies',
                            'attemptlateminutes')
                        THEN 'SELECT, INSERT, UPDATE'
                    WHEN target.name IN ('auditentries', 'alerttransitions') THEN 'SELECT, INSERT'
                    -- Acknowledging, retrying notifications, silencing, marking and accepting.
                    WHEN target.name = 'alerts' THEN 'SELECT, UPDATE'
                    WHEN target.name IN ('notifications', 'alertsilences', 'alertmarks', 'alertacceptances') THEN 'SELECT, INSERT, UPDATE'
                    WHEN target.isAlerting THEN 'SELECT'
                    ELSE 'SELECT, INSERT, UPDATE, DELETE' END
                WHEN 'pushwatch_sender' THEN CASE
                    WHEN target.name IN ('tokenregistry', 'livesubjects', 'subjectsources', 'pushleaseddeliveries', 'pushfinished') THEN 'SELECT'
                    WHEN target.isView THEN NULL
                    WHEN target.name = 'keylocks' THEN 'SELECT, UPDATE'
                    WHEN target.name IN ('schemamigrations', 'ledgerstate') THEN 'SELECT'
                    -- The commands of an operator record what they change, whatever login they are run with.
                    WHEN target.name = 'auditentries' THEN 'INSERT'
                    WHEN target.name IN ('notificationdeliveryattempts', 'attemptledger', 'attemptrollups', 'attemptlatencies',
                            'attemptlateminutes')
                        THEN 'SELECT, INSERT, UPDATE'
                    WHEN target.name IN ('devices', 'devicestarttokens', 'deadtokens', 'deactivationlimiters', 'follows', 'writerheartbeats',
                            'instances', 'foldedlabeldays')
                        OR target.name ~ '^(push|token|live|activ|match|score|audience)' THEN 'SELECT, INSERT, UPDATE, DELETE'
                    END
                WHEN 'pushwatch_alerter' THEN CASE
                    WHEN target.isView OR target.name IN ('schemamigrations', 'attemptrollups', 'attemptlatencies', 'deactivationlimiters',
                            'foldedlabeldays', 'attemptimports')
                        OR target.name ~ '^push(queues|queuesamples|ready|scheduled|leases|dead|throttles|circuits|ratelimitpauses)$' THEN 'SELECT'
                    WHEN target.name IN ('writerheartbeats', 'alertmarks') THEN 'SELECT, DELETE'
                    WHEN target.name = 'auditentries' THEN 'INSERT'
                    WHEN target.name = 'instances' THEN 'SELECT, INSERT, UPDATE, DELETE'
                    WHEN target.name = 'attemptlateminutes' THEN 'SELECT, UPDATE, DELETE'
                    WHEN target.isAlerting THEN 'SELECT, INSERT, UPDATE, DELETE'
                    END
                END;
            -- Revokes what an earlier version of this file granted and this one does not.
            EXECUTE format('REVOKE ALL ON %I FROM %I', target.name, job);
            IF granted IS NOT NULL THEN EXECUTE format('GRANT %s ON %I TO %I', granted, target.name, job); END IF;
        END LOOP;
    END LOOP;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushwatch_ingest') THEN
        -- The only column of an API key that it can write.
        GRANT UPDATE (lastUsedAt) ON apiKeys TO pushwatch_ingest;
    END IF;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushwatch_alerter') THEN
        -- Of all other tables, what analysts can read: no token, no key, no content.
        FOR opened IN SELECT * FROM analystColumns ORDER BY relation LOOP
            EXECUTE format('GRANT SELECT (%s) ON %s TO pushwatch_alerter', opened.columns, opened.relation);
        END LOOP;
    END IF;
    -- What else somebody who only reads could fill the disk with. Where this role may not revoke it, `pushwatch fsck` reports it.
    IF pg_has_role(current_user, (SELECT datdba FROM pg_database WHERE datname = current_database()), 'USAGE') THEN
        EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
    END IF;
    -- Databases keep it that were made by PostgreSQL 14 or older. The owner of the tables makes partitions, and may have had it as PUBLIC.
    IF has_schema_privilege('public', place, 'CREATE')
        AND pg_has_role(current_user, (SELECT nspowner FROM pg_namespace WHERE nspname = place), 'USAGE') THEN
        EXECUTE format('GRANT CREATE ON SCHEMA %I TO %I', place, (SELECT tableowner FROM pg_tables
            WHERE schemaname = place AND tablename = 'notificationdeliveryattempts'));
        EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', place);
    END IF;
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        REVOKE EXECUTE ON FUNCTION pg_catalog.lo_creat(integer), pg_catalog.lo_create(oid), pg_catalog.lo_from_bytea(oid, bytea),
            pg_catalog.lo_open(oid, integer), pg_catalog.lowrite(integer, bytea), pg_catalog.lo_put(oid, bigint, bytea),
            pg_catalog.lo_truncate(integer, integer), pg_catalog.lo_truncate64(integer, bigint), pg_catalog.lo_unlink(oid) FROM PUBLIC;
    END IF;
END
$$;
