-- Holds and pauses: what keeps deliveries in the queue while a provider refuses the credential, or asks for fewer requests.
--
-- Lock: ACCESS EXCLUSIVE on pushScheduled for a moment (a nullable column without a default; its index is over no rows yet).
--
-- A held delivery stands in pushScheduled, due when it expires, with the hold that keeps it; a released hold makes its deliveries due at
-- once. So what is held is in nobody's way, ends in time by itself, and is moved once however long the hold lasts.

CREATE TABLE pushHolds (
    holdId        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider      pushProvider NOT NULL,
    app           text COLLATE "C" NOT NULL,
    environment   pushEnvironment NOT NULL,
    -- '' = every platform.
    platform      text COLLATE "C" NOT NULL,
    -- Names the refused credential; another one of the same place is not held.
    credential    text COLLATE "C" NOT NULL,
    -- The provider's code.
    cause         text NOT NULL,
    since         timestamptz NOT NULL,
    lastRefusedAt timestamptz NOT NULL,
    refusals      bigint NOT NULL,
    -- Tries let through to see whether it is mended, and when the next one may go. Whoever moves nextProbeAt on makes the try.
    probes        integer NOT NULL DEFAULT 0,
    nextProbeAt   timestamptz NOT NULL,
    -- The other credential that has had its try.
    probedWith    text COLLATE "C",
    -- Null while it holds.
    releasedAt    timestamptz,
    -- 'probe', or who released it.
    releasedBy    text
);

COMMENT ON TABLE pushHolds IS 'One row per time a credential was refused: deliveries wait until releasedAt.';

CREATE UNIQUE INDEX pushHolds_open ON pushHolds (provider, app, environment, platform, credential) WHERE releasedAt IS NULL;
CREATE INDEX pushHolds_releasedAt ON pushHolds (releasedAt);

ALTER TABLE pushScheduled ADD COLUMN holdId bigint;
CREATE INDEX pushScheduled_held ON pushScheduled (holdId, deliveryId) WHERE holdId IS NOT NULL;

-- A provider asked for fewer requests: nothing is claimed from the lanes of the app until then. Kept for a while after it, so that a
-- pause that follows at once is longer.
CREATE TABLE pushPauses (
    provider    pushProvider NOT NULL,
    app         text COLLATE "C" NOT NULL,
    cause       text NOT NULL,
    since       timestamptz NOT NULL,
    pausedUntil timestamptz NOT NULL,
    -- How many in a row.
    number      integer NOT NULL,
    PRIMARY KEY (provider, app)
);

COMMENT ON TABLE pushPauses IS 'Lanes that wait because their provider asked for fewer requests.';

CREATE OR REPLACE VIEW pushDeliveryStates WITH (security_invoker = true) AS
    SELECT delivery.deliveryId, delivery.sendId, delivery.uid, delivery.deviceId, delivery.platform, delivery.provider,
           delivery.environment, delivery.app, delivery.createdAt,
           -- In exactly one of the five tables; what is in none of the other four is ready.
           CASE WHEN finished.deliveryId IS NOT NULL THEN finished.outcome
                WHEN dead.deliveryId IS NOT NULL THEN dead.outcome
                WHEN leased.deliveryId IS NOT NULL THEN 'sending'
                WHEN scheduled.holdId IS NOT NULL THEN 'held'
                WHEN scheduled.deliveryId IS NOT NULL THEN 'scheduled'
                ELSE 'ready' END AS state,
           coalesce(finished.attempts, dead.attempts, leased.attemptNumber - 1, scheduled.attemptNumber - 1) AS attempts,
           coalesce(dead.reasonCode, scheduled.reasonCode) AS reasonCode, dead.providerErrorCode,
           coalesce(finished.finishedAt, dead.finishedAt) AS finishedAt,
           CASE WHEN scheduled.holdId IS NULL THEN scheduled.runAt END AS nextTryAt
    FROM pushDeliveries AS delivery
    LEFT JOIN pushFinished AS finished USING (deliveryId)
    LEFT JOIN pushDead AS dead USING (deliveryId)
    LEFT JOIN pushLeases AS leased USING (deliveryId)
    LEFT JOIN pushScheduled AS scheduled USING (deliveryId);

UPDATE analystColumns SET columns = columns || ', holdId' WHERE relation = 'pushScheduled';
INSERT INTO analystColumns VALUES
    ('pushHolds', 'holdId, provider, app, environment, platform, credential, cause, since, lastRefusedAt, refusals, probes, nextProbeAt,
        releasedAt, releasedBy'),
    ('pushPauses', 'provider, app, cause, since, pausedUntil, number');
SELECT openToAnalysts();
