-- Alerts that are held back because another one explains them; who is affected while an alert goes on; messages that told several alerts.
--
-- Lock: ACCESS EXCLUSIVE on alertEpisodes and alertDeliveries for a moment; nothing is rewritten.

-- The alert that explains this one, as long as nobody is told of this one: {"alertId", "rule", "group"}.
ALTER TABLE alertEpisodes ADD COLUMN heldBack jsonb;
-- Who was affected in the worst window, and who is now: looked at again every few minutes while it fires. Null before the first look.
ALTER TABLE alertEpisodes ADD COLUMN impact jsonb;

-- The same for all alerts that one message told; null for a message about one alert.
ALTER TABLE alertDeliveries ADD COLUMN messageId text;

UPDATE analystColumns SET columns = columns || ', heldBack, impact' WHERE relation = 'alertEpisodes';
UPDATE analystColumns SET columns = columns || ', messageId' WHERE relation = 'alertDeliveries';
SELECT openToAnalysts();
