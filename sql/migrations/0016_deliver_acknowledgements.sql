-- Messages beside "firing" and "resolved": that somebody acknowledged an alert, and that it still fires. And where a receiver that can edit
-- its messages keeps an episode's.
--
-- Lock: ACCESS EXCLUSIVE on alertTransitions and alertOutbox for a moment; both are small.

ALTER TABLE alertTransitions DROP CONSTRAINT alerttransitions_kind_check;
ALTER TABLE alertTransitions ADD CONSTRAINT alertTransitions_kind_check CHECK (kind IN ('firing', 'acknowledged', 'repeated', 'resolved'));
ALTER TABLE alertOutbox DROP CONSTRAINT alertoutbox_kind_check;
ALTER TABLE alertOutbox ADD CONSTRAINT alertOutbox_kind_check CHECK (kind IN ('firing', 'acknowledged', 'repeated', 'resolved'));
ALTER TABLE alertOutbox DROP CONSTRAINT alertoutbox_episodeid_receiver_kind_key;
CREATE UNIQUE INDEX alertOutbox_once ON alertOutbox (episodeId, receiver, kind) WHERE kind <> 'repeated';

-- How many tries a receiver got lately: its rate limit.
CREATE INDEX alertDeliveries_receiver ON alertDeliveries (receiver, attemptedAt);

-- The message of an episode that is edited and answered to, instead of a new one each time.
CREATE TABLE alertThreads (
    episodeId uuid NOT NULL,
    receiver  text NOT NULL,
    -- As the receiver names it; for Slack channel and timestamp.
    thread    text NOT NULL,
    PRIMARY KEY (episodeId, receiver)
);
