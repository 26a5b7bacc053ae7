-- Heartbeats of the instances that write attempts: without them a minute in which nobody wrote (a gap) looks like a minute in which
-- nothing was sent (quiet).
--
-- Lock: none on existing data; creates only.

CREATE TABLE writerHeartbeats (
    -- The minute in which the instance could write to this database.
    minute timestamptz NOT NULL,
    -- One process; a restarted instance is another writer.
    writer uuid NOT NULL,
    PRIMARY KEY (minute, writer)
);

COMMENT ON TABLE writerHeartbeats IS 'One row per minute and instance that ingests or sends. Kept for 30 days.';
