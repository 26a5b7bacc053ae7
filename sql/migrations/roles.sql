-- Who may do what in the database: one role for each job. Run after the migrations, each time they are run, so that a table that a
-- migration adds is opened too. It changes nothing but roles and grants, and may be run again by hand as the owner of the tables.
--
--   the owner           migrations, partitions: `pushwatch migrate` and admin.database.url. Its name is free
--   pushwatch_ingest    an instance with the role api
--   pushwatch_sender    an instance with the roles send and live
--   pushwatch_alerter   an instance with the role alert
--   pushwatch_analyst   people who ask SQL (migration 0006)
--
-- The three are groups without a login. An instance logs in as a member of the groups of its roles (docs/operations.md, Database roles).
-- None of them may change the schema, empty a table, delete attempts, make or widen an API key, or change what is written in the audit.
--
-- Lock: those of GRANT for a moment, after the turn that all take who change the schema (a running server makes partitions).
-- Roles belong to the whole cluster; one that exists is left as it is.
DO $$
DECLARE
    job      text;
    target   record;
    granted  text;
    opened   analystColumns;
BEGIN
    PERFORM pg_advisory_xact_lock(7204113);
    FOREACH job IN ARRAY ARRAY['pushwatch_ingest', 'pushwatch_sender', 'pushwatch_alerter'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = job) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', job);
            EXCEPTION
                WHEN duplicate_object OR unique_violation THEN
                    -- Another database's migration was quicker.
                    NULL;
                WHEN insufficient_privilege THEN
                    RAISE WARNING 'The role % was not made: % lacks CREATEROLE.', job, current_user
                        USING HINT = 'Make it as somebody who may, then run pushwatch migrate again.';
            END;
        END IF;
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_roles WHERE rolname = job);
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), job);
        EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO %I', current_schema(), job);
        FOR target IN
            SELECT relname AS name, relkind = 'v' AS isView FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition
            ORDER BY relname
        LOOP
            granted := CASE job
                WHEN 'pushwatch_ingest' THEN CASE
                    WHEN target.isView OR target.name IN ('schemamigrations', 'analystcolumns', 'ledgerstate', 'apikeys') THEN 'SELECT'
                    WHEN target.name IN ('notificationdeliveryattempts', 'attemptledger', 'attemptrollups') THEN 'SELECT, INSERT, UPDATE'
                    WHEN target.name IN ('serversecrets', 'auditentries', 'alerttransitions') THEN 'SELECT, INSERT'
                    WHEN target.name = 'alertoutbox' THEN 'SELECT, INSERT, UPDATE'
                    WHEN target.name = 'alertepisodes' THEN 'SELECT, UPDATE'
                    WHEN target.name IN ('alertsilences', 'alertmarks', 'alertacceptances') THEN 'SELECT, INSERT, UPDATE'
                    WHEN target.name ~ '^alert' OR target.name IN ('sendbacklogminutes', 'providercodedays', 'devicereturnhours', 'heldcredentialminutes')
                        THEN 'SELECT'
                    ELSE 'SELECT, INSERT, UPDATE, DELETE' END
                WHEN 'pushwatch_sender' THEN CASE
                    WHEN target.isView THEN NULL
                    WHEN target.name IN ('schemamigrations', 'ledgerstate') THEN 'SELECT'
                    WHEN target.name IN ('notificationdeliveryattempts', 'attemptledger', 'attemptrollups') THEN 'SELECT, INSERT, UPDATE'
                    WHEN target.name IN ('devices', 'devicestarttokens', 'follows', 'writerheartbeats')
                        OR target.name ~ '^(push|token|live|activ|match|score|audience)' THEN 'SELECT, INSERT, UPDATE, DELETE'
                    END
                WHEN 'pushwatch_alerter' THEN CASE
                    WHEN target.isView OR target.name IN ('schemamigrations', 'attemptrollups', 'alertmarks', 'tokenbreakers')
                        OR target.name ~ '^push(lanes|ready|scheduled|leases|finished|dead|throttles|holds|pauses)$' THEN 'SELECT'
                    WHEN target.name = 'writerheartbeats' THEN 'SELECT, DELETE'
                    WHEN target.name ~ '^alert' OR target.name IN ('sendbacklogminutes', 'providercodedays', 'devicereturnhours', 'heldcredentialminutes')
                        THEN 'SELECT, INSERT, UPDATE, DELETE'
                    END
                END;
            -- What an earlier version of this file granted and this one does not is taken back.
            EXECUTE format('REVOKE ALL ON %I FROM %I', target.name, job);
            IF granted IS NOT NULL THEN EXECUTE format('GRANT %s ON %I TO %I', granted, target.name, job); END IF;
        END LOOP;
    END LOOP;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushwatch_ingest') THEN
        -- When a key was last used, and nothing else of it.
        GRANT UPDATE (lastUsedAt) ON apiKeys TO pushwatch_ingest;
    END IF;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'pushwatch_alerter') THEN
        -- Of everything else what analysts may read: no token, no key, no content.
        FOR opened IN SELECT * FROM analystColumns ORDER BY relation LOOP
            EXECUTE format('GRANT SELECT (%s) ON %s TO pushwatch_alerter', opened.columns, opened.relation);
        END LOOP;
    END IF;
END
$$;
