-- Imports remember their place; reports that come late can be followed.
--
-- Lock: SHARE on each day of attempts while its index is made (writers of that day wait, readers do not). Only late attempts are in the
-- index, so it is small; making it reads each day once.

CREATE TABLE attemptImports (
    -- Digest of the file's size, its first and its last megabyte: the same file under another name goes on where it stood.
    fileKey    uuid PRIMARY KEY,
    fileName   text NOT NULL,
    startedAt  timestamptz NOT NULL,
    updatedAt  timestamptz NOT NULL,
    -- How much of the file, unpacked, has been taken in, and what came of its lines.
    bytes      bigint NOT NULL,
    lines      bigint NOT NULL,
    accepted   bigint NOT NULL,
    duplicate  bigint NOT NULL,
    advanced   bigint NOT NULL,
    conflict   bigint NOT NULL,
    rejected   bigint NOT NULL,
    -- Null while the import is not through: then a second run goes on from here.
    finishedAt timestamptz
);

COMMENT ON TABLE attemptImports IS 'How far each import of a file has come.';

-- What was reported more than a minute after the try: found by when it came, for those who follow (`pushwatch attempts tail --follow`).
CREATE INDEX notificationDeliveryAttempts_late ON notificationDeliveryAttempts (receivedAt)
    WHERE receivedAt - attemptedAt > interval '1 minute';
