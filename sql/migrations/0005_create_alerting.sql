-- Alerting: the evaluator's progress, alerts, notifications, silences and baselines.
--
-- Locks: none on existing data.
--
-- One transaction of the evaluator writes a rule's checkpoints, its alerts, their transitions and their notifications, and verifies the
-- evaluator's lease. The checkpoints are a cache: they can be computed again from the rollups.

CREATE TABLE alertLeases (
    name      text        PRIMARY KEY,
    holder    text        NOT NULL,
    -- Fencing number: increases with each change of the holder, and is verified in each commit.
    epoch     bigint      NOT NULL,
    -- Compared with the clock of this server only.
    expiresAt timestamptz NOT NULL
);

COMMENT ON TABLE alertLeases IS 'Leases of tasks that run at one instance at a time, such as the evaluator and the notifier.';

CREATE TABLE alertRuleProgress (
    rule        text        PRIMARY KEY,
    ruleVersion text        NOT NULL,
    asOf        timestamptz NOT NULL,
    evaluatedAt timestamptz NOT NULL
);

COMMENT ON TABLE alertRuleProgress IS 'How far each rule was evaluated, and in which version.';
COMMENT ON COLUMN alertRuleProgress.rule IS 'Name of the rule.';
COMMENT ON COLUMN alertRuleProgress.ruleVersion IS 'Version of the rule that was evaluated.';
COMMENT ON COLUMN alertRuleProgress.asOf IS 'The newest complete minute that was evaluated.';
COMMENT ON COLUMN alertRuleProgress.evaluatedAt IS 'When it was evaluated.';

CREATE TABLE alertSeriesProgress (
    -- 'codes' (providerCodeDays), …
    series text        PRIMARY KEY,
    asOf   timestamptz NOT NULL
);

COMMENT ON TABLE alertSeriesProgress IS 'How far each series that rules read besides the rollups was filled.';

CREATE TABLE alertCheckpoints (
    rule        text        NOT NULL,
    ruleVersion text        NOT NULL,
    groupKey    text        NOT NULL,
    groupLabels jsonb       NOT NULL,
    -- The minute of the state. Later minutes are evaluated again from it.
    asOf        timestamptz NOT NULL,
    state       jsonb       NOT NULL,
    PRIMARY KEY (rule, ruleVersion, groupKey)
);

COMMENT ON TABLE alertCheckpoints IS 'State of the evaluation by rule, version and group.';

CREATE TABLE alertSnapshots (
    rule        text        NOT NULL,
    ruleVersion text        NOT NULL,
    -- The newest minute that was evaluated.
    asOf        timestamptz NOT NULL,
    -- The states of all groups: [{"labels": …, "state": …}, …].
    states      jsonb       NOT NULL,
    PRIMARY KEY (rule, asOf)
);

COMMENT ON TABLE alertSnapshots IS 'A checkpoint for each hour of the last day, from which minutes with late attempts are evaluated again.';

CREATE TABLE alerts (
    alertId               uuid        PRIMARY KEY,
    rule                  text        NOT NULL,
    ruleVersion           text        NOT NULL,
    groupKey              text        NOT NULL,
    groupLabels           jsonb       NOT NULL,
    labels                jsonb       NOT NULL,
    severity              text        NOT NULL CHECK (severity IN ('critical', 'page', 'ticket', 'info')),
    state                 text        NOT NULL CHECK (state IN ('firing', 'resolved')),
    startsAt              timestamptz NOT NULL,
    firedAt               timestamptz NOT NULL,
    endsAt                timestamptz,
    resolvedAt            timestamptz,
    resolvedReason        text,
    detectedLateBySeconds bigint      NOT NULL,
    evidence              jsonb       NOT NULL,
    contributors          jsonb       NOT NULL,
    backlog               jsonb,
    reproduceSql          text        NOT NULL,
    annotations           jsonb       NOT NULL,
    acknowledgedAt        timestamptz,
    acknowledgedBy        text,
    silencedBy            uuid,
    revised               boolean     NOT NULL DEFAULT false,
    noDataSince           timestamptz,
    updatedAt             timestamptz NOT NULL,
    affected              jsonb,
    suppressedBy          jsonb,
    impact                jsonb,
    escalationStep        integer     NOT NULL DEFAULT 0,
    escalationSince       timestamptz NOT NULL DEFAULT now(),
    CHECK ((state = 'resolved') = (resolvedAt IS NOT NULL))
);

-- At most one alert fires per rule and group.
CREATE UNIQUE INDEX alerts_firing ON alerts (rule, groupKey) WHERE state = 'firing';
CREATE INDEX alerts_firedAt ON alerts (firedAt DESC, alertId);
CREATE INDEX alerts_resolvedAt ON alerts (resolvedAt DESC, alertId) WHERE state = 'resolved';

COMMENT ON TABLE alerts IS 'One row per alert: one rule and group from firing to resolved.';
COMMENT ON COLUMN alerts.alertId IS 'Identifies the alert.';
COMMENT ON COLUMN alerts.rule IS 'Name of the rule, or of a built-in alert.';
COMMENT ON COLUMN alerts.ruleVersion IS 'Version of the rule.';
COMMENT ON COLUMN alerts.groupKey IS 'The group as text, such as ''provider=fcm''; ''all'' if the rule has no groups.';
COMMENT ON COLUMN alerts.groupLabels IS 'The labels of the group.';
COMMENT ON COLUMN alerts.labels IS 'alertname, severity, the labels of the rule and those of the group.';
COMMENT ON COLUMN alerts.severity IS 'critical, page, ticket or info.';
COMMENT ON COLUMN alerts.state IS 'firing or resolved.';
COMMENT ON COLUMN alerts.startsAt IS 'The first minute in which the condition was met.';
COMMENT ON COLUMN alerts.firedAt IS 'The end of the minute that made the alert fire.';
COMMENT ON COLUMN alerts.endsAt IS 'The first minute in which the condition was no longer met; NULL while the alert fires.';
COMMENT ON COLUMN alerts.resolvedAt IS 'The end of the minute that proved recovery; NULL while the alert fires.';
COMMENT ON COLUMN alerts.resolvedReason IS
    'Why it resolved: recovered, learned, replaced, relearned, accepted, rule_changed or late_attempts; NULL while it fires.';
COMMENT ON COLUMN alerts.detectedLateBySeconds IS 'Delay of the detection because of downtime or late rows, in seconds.';
COMMENT ON COLUMN alerts.evidence IS
    'The newest numbers: level, threshold, counts of the windows; of an alert that is over, those that it ended with. '
    'Those of each transition are in alertTransitions. Minutes are numbered from 1970.';
COMMENT ON COLUMN alerts.contributors IS 'Array of the values of a dimension that contribute most to the failures.';
COMMENT ON COLUMN alerts.backlog IS
    'What waited to be sent when it fired: waiting, oldestSeconds, drainSeconds, isGrowing; NULL if it was not known.';
COMMENT ON COLUMN alerts.reproduceSql IS 'A query that returns the numbers that the alert fired with.';
COMMENT ON COLUMN alerts.annotations IS 'Texts of the rule by name, filled in.';
COMMENT ON COLUMN alerts.acknowledgedAt IS 'When it was acknowledged; NULL if it was not.';
COMMENT ON COLUMN alerts.acknowledgedBy IS 'Who acknowledged it; NULL if nobody did.';
COMMENT ON COLUMN alerts.silencedBy IS 'The silence that mutes the alert, in alertSilences; NULL if none does.';
COMMENT ON COLUMN alerts.revised IS 'Late rows changed the numbers that the alert fired with.';
COMMENT ON COLUMN alerts.noDataSince IS 'Since when there is too little traffic to prove recovery; NULL if there is enough.';
COMMENT ON COLUMN alerts.updatedAt IS 'When the row was last changed.';
COMMENT ON COLUMN alerts.affected IS
    'Devices that failed in the window and had no success since it began, when the alert fired: withoutSuccess, and isComplete (false: at least so many); NULL if no attempts could be read.';
COMMENT ON COLUMN alerts.suppressedBy IS
    'The alert that explains this one, while its receivers are not notified of this one: alertId, rule, group; NULL if none does.';
COMMENT ON COLUMN alerts.impact IS
    'Who was affected in the worst window, and who is now. Updated every few minutes while the alert fires; NULL before the first update.';
COMMENT ON COLUMN alerts.escalationStep IS 'The newest step of escalation that was taken; 0 for none.';
COMMENT ON COLUMN alerts.escalationSince IS 'When that step was taken; for step 0 when the first receivers began to be notified.';

CREATE TABLE alertTransitions (
    alertId     uuid        NOT NULL REFERENCES alerts,
    seq         integer     NOT NULL,
    kind        text        NOT NULL CHECK (kind IN ('firing', 'escalated', 'acknowledged', 'repeated', 'reopened', 'resolved')),
    reason      text        NOT NULL,
    minute      timestamptz NOT NULL,
    evidence    jsonb       NOT NULL,
    annotations jsonb       NOT NULL,
    -- Fencing number of the evaluator.
    epoch       bigint      NOT NULL,
    recordedAt  timestamptz NOT NULL,
    PRIMARY KEY (alertId, seq)
);

COMMENT ON TABLE alertTransitions IS 'What happened to each alert, in order.';
COMMENT ON COLUMN alertTransitions.alertId IS 'The alert.';
COMMENT ON COLUMN alertTransitions.seq IS 'Number of the transition in the alert, from 1.';
COMMENT ON COLUMN alertTransitions.kind IS 'firing, escalated, acknowledged, repeated, reopened or resolved.';
COMMENT ON COLUMN alertTransitions.reason IS
    'Why: that of the rule for firing, reopened and resolved; no_receiver, unconfirmed or unacknowledged for escalated; otherwise as kind.';
COMMENT ON COLUMN alertTransitions.minute IS
    'The complete minute that caused the transition; of an escalation, acknowledgement or repetition the minute in which it was recorded.';
COMMENT ON COLUMN alertTransitions.evidence IS 'The numbers that receivers were notified of, as in alerts.';
COMMENT ON COLUMN alertTransitions.annotations IS 'The texts that receivers were notified of, as in alerts.';
COMMENT ON COLUMN alertTransitions.recordedAt IS 'When it was recorded.';

-- An outbox. (alertId, receiver) is the order key: the notifications of an alert reach a receiver in the order of seq.
CREATE TABLE notifications (
    alertId       uuid        NOT NULL,
    receiver      text        NOT NULL,
    seq           integer     NOT NULL,
    kind          text        NOT NULL CHECK (kind IN ('firing', 'acknowledged', 'repeated', 'reopened', 'resolved')),
    state         text        NOT NULL CHECK (state IN ('pending', 'delivered', 'deadLettered', 'superseded', 'undelivered')),
    attempts      integer     NOT NULL DEFAULT 0,
    nextAttemptAt timestamptz NOT NULL,
    -- Fencing number of the notifier that claimed the row, and the end of its lease.
    leaseEpoch    bigint,
    leaseUntil    timestamptz,
    lastError     text,
    createdAt     timestamptz NOT NULL,
    settledAt     timestamptz,
    messageId     text,
    PRIMARY KEY (alertId, receiver, seq),
    FOREIGN KEY (alertId, seq) REFERENCES alertTransitions
);

CREATE INDEX notifications_pending ON notifications (nextAttemptAt) WHERE state = 'pending';
CREATE UNIQUE INDEX notifications_once ON notifications (alertId, receiver) WHERE kind = 'firing';

COMMENT ON TABLE notifications IS 'One row per transition and receiver that is to be notified of it.';
COMMENT ON COLUMN notifications.alertId IS 'The alert.';
COMMENT ON COLUMN notifications.receiver IS 'Name of the receiver.';
COMMENT ON COLUMN notifications.seq IS
    'The transition, in alertTransitions. The notifications of an alert reach a receiver in this order.';
COMMENT ON COLUMN notifications.kind IS 'What it says: firing, acknowledged, repeated, reopened or resolved.';
COMMENT ON COLUMN notifications.state IS
    'pending: to be delivered; delivered: accepted by the receiver; deadLettered: rejected permanently; superseded: replaced by a later notification of the alert, or no longer wanted; undelivered: not delivered until 24 hours after the alert resolved, or for an hour if no receiver of this name is configured.';
COMMENT ON COLUMN notifications.attempts IS 'Number of attempts.';
COMMENT ON COLUMN notifications.nextAttemptAt IS 'When the next attempt is due while the state is pending.';
COMMENT ON COLUMN notifications.createdAt IS 'When it was stored.';
COMMENT ON COLUMN notifications.settledAt IS 'When the state changed from pending; NULL while it is pending.';
COMMENT ON COLUMN notifications.messageId IS
    'Identifies a message about several alerts. Set before it is sent and cleared with settledAt: a retry sends the same alerts under the same id, so that the receiver can recognize the message. NULL for a message about one alert.';

CREATE TABLE notificationAttempts (
    notificationAttemptId bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    alertId               uuid        NOT NULL,
    receiver              text        NOT NULL,
    seq                   integer     NOT NULL,
    result                text        NOT NULL,
    attemptedAt           timestamptz NOT NULL,
    status                integer,
    latencyMs             integer     NOT NULL,
    -- The beginning of the response, without secrets.
    responsePrefix        text,
    error                 text,
    messageId             text
);

CREATE INDEX notificationAttempts_alert ON notificationAttempts (alertId, notificationAttemptId);
-- The rate limit of a receiver.
CREATE INDEX notificationAttempts_receiver ON notificationAttempts (receiver, attemptedAt);

COMMENT ON TABLE notificationAttempts IS 'One row per attempt to deliver a notification.';
COMMENT ON COLUMN notificationAttempts.notificationAttemptId IS 'Number of the attempt.';
COMMENT ON COLUMN notificationAttempts.alertId IS 'The alert.';
COMMENT ON COLUMN notificationAttempts.receiver IS 'Name of the receiver.';
COMMENT ON COLUMN notificationAttempts.seq IS 'The transition, in alertTransitions.';
COMMENT ON COLUMN notificationAttempts.result IS 'delivered, retry, deadLettered or undelivered.';
COMMENT ON COLUMN notificationAttempts.attemptedAt IS 'When the result was recorded.';
COMMENT ON COLUMN notificationAttempts.status IS 'The HTTP status; NULL if there was no response.';
COMMENT ON COLUMN notificationAttempts.latencyMs IS 'Milliseconds that the attempt took.';
COMMENT ON COLUMN notificationAttempts.messageId IS 'Identifies a message about several alerts; NULL for a message about one alert.';

CREATE TABLE alertThreads (
    alertId  uuid NOT NULL,
    receiver text NOT NULL,
    -- As the receiver identifies it; for Slack, the channel and the timestamp.
    thread   text NOT NULL,
    PRIMARY KEY (alertId, receiver)
);

COMMENT ON TABLE alertThreads IS 'The message about an alert that a receiver updates and replies to.';

CREATE TABLE alertSilences (
    silenceId uuid        PRIMARY KEY,
    matchers  jsonb       NOT NULL,
    startsAt  timestamptz NOT NULL,
    endsAt    timestamptz NOT NULL,
    author    text        NOT NULL,
    reason    text        NOT NULL,
    createdAt timestamptz NOT NULL,
    CHECK (endsAt >= startsAt)
);

CREATE INDEX alertSilences_endsAt ON alertSilences (endsAt);

COMMENT ON TABLE alertSilences IS 'Silences. Matching alerts are recorded, and nobody is notified of them.';
COMMENT ON COLUMN alertSilences.silenceId IS 'Identifies the silence.';
COMMENT ON COLUMN alertSilences.matchers IS
    'Array of conditions on labels, of which all must match: [{"name": "alertname", "value": "ProviderOutage", "isEqual": true}, …].';
COMMENT ON COLUMN alertSilences.startsAt IS 'When it begins.';
COMMENT ON COLUMN alertSilences.endsAt IS 'When it ends.';
COMMENT ON COLUMN alertSilences.author IS 'Who made it.';
COMMENT ON COLUMN alertSilences.reason IS 'Why, as the author wrote it.';
COMMENT ON COLUMN alertSilences.createdAt IS 'When it was made.';

CREATE TABLE alertMarks (
    alertId  uuid        PRIMARY KEY,
    verdict  text        NOT NULL CHECK (verdict IN ('real', 'noise')),
    author   text        NOT NULL,
    markedAt timestamptz NOT NULL
);

COMMENT ON TABLE alertMarks IS 'Whether an alert was worth the interruption. The last mark of an alert replaces earlier ones.';
COMMENT ON COLUMN alertMarks.alertId IS 'The alert.';
COMMENT ON COLUMN alertMarks.verdict IS 'real: it was worth the interruption; noise: it was not.';
COMMENT ON COLUMN alertMarks.author IS 'Who marked it.';
COMMENT ON COLUMN alertMarks.markedAt IS 'When it was marked.';

CREATE TABLE alertBaselineDays (
    rule            text        NOT NULL,
    ruleVersion     text        NOT NULL,
    stratum         jsonb       NOT NULL,
    day             date        NOT NULL,
    hourAttempts    bigint[]    NOT NULL,
    hourBad         bigint[]    NOT NULL,
    excludedMinutes integer     NOT NULL,
    storedAt        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (rule, ruleVersion, day, stratum)
);

COMMENT ON TABLE alertBaselineDays IS 'Attempts and failures per hour of the days that baselines are computed from: a cache of the rollups.';
COMMENT ON COLUMN alertBaselineDays.rule IS 'Name of the rule.';
COMMENT ON COLUMN alertBaselineDays.ruleVersion IS 'Version of the rule.';
COMMENT ON COLUMN alertBaselineDays.stratum IS 'Labels of the attempts that are counted apart; {} for a day without attempts.';
COMMENT ON COLUMN alertBaselineDays.day IS 'A complete day (UTC). One without attempts has a row with an empty stratum.';
COMMENT ON COLUMN alertBaselineDays.hourAttempts IS 'Number of attempts in each of its 24 hours.';
COMMENT ON COLUMN alertBaselineDays.hourBad IS 'Number of failed attempts that the rule counts in each of its 24 hours.';
COMMENT ON COLUMN alertBaselineDays.excludedMinutes IS 'Number of minutes that were left out (alertBaselineExclusions).';
COMMENT ON COLUMN alertBaselineDays.storedAt IS 'When it was counted. Days stored before an import of attempts are counted again.';

CREATE TABLE alertBaselineExclusions (
    fromAt    timestamptz NOT NULL,
    toAt      timestamptz NOT NULL,
    reason    text        NOT NULL,
    author    text        NOT NULL DEFAULT '',
    createdAt timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (fromAt, toAt),
    CHECK (toAt > fromAt)
);

COMMENT ON TABLE alertBaselineExclusions IS 'Minutes that baselines ignore, such as a long incident. Entered by an operator.';
COMMENT ON COLUMN alertBaselineExclusions.fromAt IS 'The first moment that baselines ignore.';
COMMENT ON COLUMN alertBaselineExclusions.toAt IS 'The first moment after those that they ignore.';
COMMENT ON COLUMN alertBaselineExclusions.reason IS 'Why, as the author wrote it.';
COMMENT ON COLUMN alertBaselineExclusions.author IS 'Who entered it.';
COMMENT ON COLUMN alertBaselineExclusions.createdAt IS 'When it was entered.';

CREATE TABLE alertAcceptances (
    acceptanceId  uuid             PRIMARY KEY,
    alertId       uuid             NOT NULL,
    rule          text COLLATE "C" NOT NULL,
    groupKey      text COLLATE "C" NOT NULL,
    groupLabels   jsonb            NOT NULL,
    author        text             NOT NULL,
    reason        text             NOT NULL,
    acceptedAt    timestamptz      NOT NULL,
    effectiveFrom timestamptz,
    level         jsonb,
    undoneAt      timestamptz,
    undoneBy      text,
    effectiveTo   timestamptz,
    CHECK ((effectiveFrom IS NULL) = (level IS NULL)),
    CHECK ((undoneAt IS NULL) = (undoneBy IS NULL)),
    CHECK (effectiveTo IS NULL OR (undoneAt IS NOT NULL AND effectiveTo > effectiveFrom))
);

-- An alert has at most one acceptance that was not withdrawn.
CREATE UNIQUE INDEX alertAcceptances_alert ON alertAcceptances (alertId) WHERE undoneAt IS NULL;
CREATE INDEX alertAcceptances_rule ON alertAcceptances (rule, effectiveFrom);

COMMENT ON TABLE alertAcceptances IS 'Levels of failures that an operator accepted as normal for a baseline rule and group.';
COMMENT ON COLUMN alertAcceptances.acceptanceId IS 'Identifies the acceptance.';
COMMENT ON COLUMN alertAcceptances.alertId IS 'The alert whose level was accepted.';
COMMENT ON COLUMN alertAcceptances.rule IS 'Name of the rule.';
COMMENT ON COLUMN alertAcceptances.groupKey IS 'The group as text, as in alerts.';
COMMENT ON COLUMN alertAcceptances.groupLabels IS 'The labels of the group.';
COMMENT ON COLUMN alertAcceptances.author IS 'Who accepted it.';
COMMENT ON COLUMN alertAcceptances.reason IS 'Why, as the author wrote it.';
COMMENT ON COLUMN alertAcceptances.acceptedAt IS 'When it was accepted.';
COMMENT ON COLUMN alertAcceptances.effectiveFrom IS
    'The first minute that the acceptance applies to; NULL until the evaluator first applies it.';
COMMENT ON COLUMN alertAcceptances.level IS
    'The reasons that count, and the expected share of failures (0 to 1) of each stratum; NULL until the evaluator first applies it.';
COMMENT ON COLUMN alertAcceptances.undoneAt IS 'When it was withdrawn; NULL if it was not.';
COMMENT ON COLUMN alertAcceptances.undoneBy IS 'Who withdrew it; NULL if nobody did.';
COMMENT ON COLUMN alertAcceptances.effectiveTo IS 'The first minute that it no longer applies to; NULL if there is none.';
