-- Who left a stretch of time out of the baselines, and when.
--
-- Lock: ACCESS EXCLUSIVE on alertBaselineExclusions for a moment.

ALTER TABLE alertBaselineExclusions ADD COLUMN author text NOT NULL DEFAULT '';
ALTER TABLE alertBaselineExclusions ADD COLUMN createdAt timestamptz NOT NULL DEFAULT now();

COMMENT ON TABLE alertBaselineExclusions IS 'Minutes that teach no baseline: long incidents, entered by an operator.';

INSERT INTO analystColumns VALUES ('alertBaselineExclusions', 'fromAt, toAt, reason, author, createdAt');
SELECT openToAnalysts();
