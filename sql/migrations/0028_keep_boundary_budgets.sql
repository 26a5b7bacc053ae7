-- What is left of a device's hourly allowance of boundaries at priority 10: another instance that takes a match over goes on with it.
--
-- Lock: ACCESS EXCLUSIVE on liveActivities and activityChannels for a moment, to add a column without a default.
--
-- The moment from which the allowance is whole again; null: it is. One that was taken moves it an eighth of an hour.
ALTER TABLE liveActivities ADD COLUMN boundaryBudgetFullAt timestamptz;
ALTER TABLE activityChannels ADD COLUMN boundaryBudgetFullAt timestamptz;
