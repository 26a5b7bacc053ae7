-- The hours that baselines with `seasonality: hour_of_week` learn from, beside the days of the others.
--
-- Lock: none on tables that are in use.

-- Immutable once written, as the days are. An hour without attempts has one row with the empty stratum, so that it is not looked at again.
CREATE TABLE alertBaselineHours (
    rule        text COLLATE "C" NOT NULL,
    ruleVersion text COLLATE "C" NOT NULL,
    stratum     jsonb NOT NULL,
    hour        timestamptz NOT NULL,
    attempts    bigint NOT NULL,
    bad         bigint NOT NULL,
    PRIMARY KEY (rule, ruleVersion, hour, stratum)
);

COMMENT ON TABLE alertBaselineHours IS 'Attempts and failures of each hour that a seasonal baseline learns from.';

INSERT INTO analystColumns VALUES
    ('alertBaselineHours', 'rule, ruleVersion, stratum, hour, attempts, bad');
SELECT openToAnalysts();
