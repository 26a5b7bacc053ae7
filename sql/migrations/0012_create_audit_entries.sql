-- Who did what: every action of a person or a key that changes how alerts are told or sends are made. And what people thought of an
-- alert afterwards, and the way from a person to their deliveries.
--
-- Lock: SHARE on pushDeliveries while its index is built: enqueueing waits that long. On a large queue build the index first, with
-- CREATE INDEX CONCURRENTLY pushDeliveries_uid ON pushDeliveries (uid, createdAt).

CREATE TABLE auditEntries (
    entryId bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL,
    -- The name of the key or session it was done with.
    actor   text NOT NULL,
    -- 'alert.acknowledge', 'alert.silence', 'sends.throttle', …
    action  text NOT NULL,
    -- What it was done to: an alert's id, a provider, a key's name.
    subject text NOT NULL,
    -- In words: until when, how far, why. Never a secret.
    detail  text NOT NULL
);

CREATE INDEX auditEntries_at ON auditEntries USING brin (at);
COMMENT ON TABLE auditEntries IS 'Who did what, in order. Only ever added to.';

-- Was the alert worth waking somebody? One verdict per alert, the last one stays.
CREATE TABLE alertMarks (
    episodeId uuid PRIMARY KEY,
    verdict   text NOT NULL CHECK (verdict IN ('real', 'noise')),
    author    text NOT NULL,
    markedAt  timestamptz NOT NULL
);

CREATE INDEX IF NOT EXISTS pushDeliveries_uid ON pushDeliveries (uid, createdAt);

INSERT INTO analystColumns VALUES
    ('auditEntries', 'entryId, at, actor, action, subject, detail'),
    ('alertMarks', 'episodeId, verdict, author, markedAt');
SELECT openToAnalysts();
