-- Writers say what they hold and could not write yet, so that a minute is not evaluated before all of it is there.
--
-- Lock: ACCESS EXCLUSIVE on writerHeartbeats for a moment; nothing is rewritten.

-- The writer's clock at its newest word in this minute; null for writers of a version before this one.
ALTER TABLE writerHeartbeats ADD COLUMN reportedAt timestamptz;
-- When the oldest outcome was that the writer held and had not committed; null: it held none.
ALTER TABLE writerHeartbeats ADD COLUMN uncommittedSince timestamptz;

UPDATE analystColumns SET columns = columns || ', reportedAt, uncommittedSince' WHERE relation = 'writerHeartbeats';
SELECT openToAnalysts();
