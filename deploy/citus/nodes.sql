-- Registers the workers with the coordinator, and makes each node wait for its standby. May be run again.
SELECT citus_set_coordinator_host('coordinator', 5432);
SELECT citus_add_node('worker-1', 5432);
SELECT citus_add_node('worker-2', 5432);

-- From here on a commit is in two places before it is acknowledged. Not before: making a database would wait for a standby.
ALTER SYSTEM SET synchronous_standby_names = '*';
SELECT pg_reload_conf();
\connect -reuse-previous=on "host=worker-1"
ALTER SYSTEM SET synchronous_standby_names = '*';
SELECT pg_reload_conf();
\connect -reuse-previous=on "host=worker-2"
ALTER SYSTEM SET synchronous_standby_names = '*';
SELECT pg_reload_conf();
