-- Levels of failures that somebody has called normal: what a baseline rule expects of a group from then on.
--
-- Lock: none on tables that are in use.

CREATE TABLE alertAcceptances (
    acceptanceId  uuid PRIMARY KEY,
    -- The alert it was said of.
    episodeId     uuid NOT NULL,
    rule          text COLLATE "C" NOT NULL,
    groupKey      text COLLATE "C" NOT NULL,
    groupLabels   jsonb NOT NULL,
    author        text NOT NULL,
    reason        text NOT NULL,
    acceptedAt    timestamptz NOT NULL,
    -- The first minute that is decided by it, and the level: the reasons that count, and the part of each stratum's attempts that is
    -- expected to fail. The evaluator writes both when it takes the acceptance up.
    effectiveFrom timestamptz,
    level         jsonb,
    -- Taken back, and the first minute that is not decided by it any more.
    undoneAt      timestamptz,
    undoneBy      text,
    effectiveTo   timestamptz,
    CHECK ((effectiveFrom IS NULL) = (level IS NULL)),
    CHECK ((undoneAt IS NULL) = (undoneBy IS NULL)),
    CHECK (effectiveTo IS NULL OR (undoneAt IS NOT NULL AND effectiveTo > effectiveFrom))
);

COMMENT ON TABLE alertAcceptances IS 'Levels that somebody called normal for a baseline rule and group.';

-- An alert is accepted once, until that is taken back.
CREATE UNIQUE INDEX alertAcceptances_episode ON alertAcceptances (episodeId) WHERE undoneAt IS NULL;
CREATE INDEX alertAcceptances_rule ON alertAcceptances (rule, effectiveFrom);

INSERT INTO analystColumns VALUES
    ('alertAcceptances', 'acceptanceId, episodeId, rule, groupKey, groupLabels, author, reason, acceptedAt, effectiveFrom, level, undoneAt, undoneBy, effectiveTo');
SELECT openToAnalysts();
