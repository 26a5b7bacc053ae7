-- The day's end of a match over several days: its activities end, and come back when play goes on.
--
-- Lock: ACCESS EXCLUSIVE on activeMatches and liveActivities while their rows are checked once; both are small.
ALTER TABLE activeMatches DROP CONSTRAINT activematches_phase_check;
ALTER TABLE activeMatches ADD CONSTRAINT activeMatches_phase_check
    CHECK (phase IN ('scheduled', 'live', 'break', 'interrupted', 'stumps', 'ended', 'abandoned'));

ALTER TABLE liveActivities DROP CONSTRAINT liveactivities_endreason_check;
ALTER TABLE liveActivities ADD CONSTRAINT liveActivities_endReason_check CHECK (endReason IN
    ('match_end', 'user_unfollow', 'user_dismissed', 'token_invalid', 'device_unregistered', 'rolled_over', 'stumps'));
