-- Live Activity pushes that are about to leave: kept before they do, so that a try whose process dies before it can write the outcome has
-- its attempt all the same. Starts have theirs in activityStarts, by which they are claimed.
--
-- Lock: none on existing data; creates only.
--
-- One row for a group of pushes that leave together, one element of each array for each push. It is deleted in the transaction that writes
-- the last of their outcomes; what is still here two minutes later becomes attempts of unknown outcome. There are as many rows as groups
-- are under way: a few dozen at most.
CREATE TABLE livePushIntents (
    -- The process, under another name for each of its starts, and the group's number there.
    owner          text COLLATE "C" NOT NULL,
    number         bigint NOT NULL,
    startedAt      timestamptz NOT NULL DEFAULT clock_timestamp(),
    subjects       text[] NOT NULL,
    userIds        text[] NOT NULL,
    deviceIds      text[] NOT NULL,
    generations    integer[] NOT NULL,
    -- What is done to the activity: which state it is told, or its end.
    operations     text[] NOT NULL,
    tokenHashes    text[] NOT NULL,
    apps           text[] NOT NULL,
    environments   text[] NOT NULL,
    attemptNumbers integer[] NOT NULL,
    requestIds     text[] NOT NULL,
    PRIMARY KEY (owner, number)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 10000);

COMMENT ON TABLE livePushIntents IS 'Live Activity pushes under way, a row for each group; the service''s own bookkeeping.';
