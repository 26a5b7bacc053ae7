-- Which message a row of the outbox was told in: what was once tried together is tried together again, under the same id, so that a receiver
-- that took it and could not say so recognises it.
--
-- Lock: ACCESS EXCLUSIVE on alertOutbox for a moment; nothing is rewritten.

-- Set when a courier takes several rows for one message, before it sends it; null for a message about one alert, and once it is settled.
ALTER TABLE alertOutbox ADD COLUMN messageId text;

UPDATE analystColumns SET columns = columns || ', messageId' WHERE relation = 'alertOutbox';
SELECT openToAnalysts();
