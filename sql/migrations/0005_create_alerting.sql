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
    -- The newest complete minute that was evaluated.
    asOf        timestamptz NOT NULL,
    evaluatedAt timestamptz NOT NULL
);

COMMENT ON TABLE alertRuleProgress IS 'How far each rule was evaluated, and in which version.';

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
    -- The group as text ('provider=fcm', 'all'), and its labels.
    groupKey              text        NOT NULL,
    groupLabels           jsonb       NOT NULL,
    -- alertname, severity, the labels of the rule and those of the group.
    labels                jsonb       NOT NULL,
    severity              text        NOT NULL CHECK (severity IN ('critical', 'page', 'ticket', 'info')),
    state                 text        NOT NULL CHECK (state IN ('firing', 'resolved')),
    -- The first minute in which the condition was met, and the end of the minute that made the alert fire.
    startsAt              timestamptz NOT NULL,
    firedAt               timestamptz NOT NULL,
    -- The first minute in which the condition was no longer met, and the end of the minute that proved recovery.
    endsAt                timestamptz,
    resolvedAt            timestamptz,
    resolvedReason        text,
    -- Delay of the detection because of downtime or late rows.
    detectedLateBySeconds bigint      NOT NULL,
    evidence              jsonb       NOT NULL,
    -- The values that contribute most, the send backlog at that time, and a query that returns the numbers.
    contributors          jsonb       NOT NULL,
    backlog               jsonb,
    reproduceSql          text        NOT NULL,
    annotations           jsonb       NOT NULL,
    acknowledgedAt        timestamptz,
    acknowledgedBy        text,
    -- The silence that mutes the alert.
    silencedBy            uuid,
    -- Late rows changed the numbers that the alert fired with.
    revised               boolean     NOT NULL DEFAULT false,
    -- Since when there is too little traffic to prove recovery.
    noDataSince           timestamptz,
    updatedAt             timestamptz NOT NULL,
    -- Who was affected when the alert fired.
    affected              jsonb,
    -- The alert that explains this one, while its receivers are not notified of this one: {"alertId", "rule", "group"}.
    suppressedBy          jsonb,
    -- Who was affected in the worst window, and who is now. Updated every few minutes while the alert fires; null before the first update.
    impact                jsonb,
    -- The newest step of escalation that was taken, 0 for none, and when; or when the first receivers began to be notified.
    escalationStep        integer     NOT NULL DEFAULT 0,
    escalationSince       timestamptz NOT NULL DEFAULT now(),
    CHECK ((state = 'resolved') = (resolvedAt IS NOT NULL))
);

-- At most one alert fires per rule and group.
CREATE UNIQUE INDEX alerts_firing ON alerts (rule, groupKey) WHERE state = 'firing';
CREATE INDEX alerts_firedAt ON alerts (firedAt DESC, alertId);
CREATE INDEX alerts_resolvedAt ON alerts (resolvedAt DESC, alertId) WHERE state = 'resolved';

COMMENT ON TABLE alerts IS 'One row per alert: one rule and group from firing to resolved.';

CREATE TABLE alertTransitions (
    alertId     uuid        NOT NULL REFERENCES alerts,
    seq         integer     NOT NULL,
    kind        text        NOT NULL CHECK (kind IN ('firing', 'escalated', 'acknowledged', 'repeated', 'reopened', 'resolved')),
    reason      text        NOT NULL,
    -- The complete minute that caused the transition.
    minute      timestamptz NOT NULL,
    -- The content of the notification.
    evidence    jsonb       NOT NULL,
    annotations jsonb       NOT NULL,
    -- Fencing number of the evaluator.
    epoch       bigint      NOT NULL,
    recordedAt  timestamptz NOT NULL,
    PRIMARY KEY (alertId, seq)
);

COMMENT ON TABLE alertTransitions IS 'What happened to each alert, in order.';

-- An outbox. (alertId, receiver) is the order key: the notifications of an alert reach a receiver in the order of seq.
CREATE TABLE notifications (
    alertId       uuid        NOT NULL,
    receiver      text        NOT NULL,
    seq           integer     NOT NULL,
    kind          text        NOT NULL CHECK (kind IN ('firing', 'acknowledged', 'repeated', 'reopened', 'resolved')),
    -- pending       to be delivered
    -- delivered     accepted by the receiver
    -- deadLettered  rejected permanently
    -- superseded    replaced by a later notification of the alert, or no longer wanted
    -- undelivered   given up 24 hours after the alert resolved; after an hour if no receiver of this name is configured
    state         text        NOT NULL CHECK (state IN ('pending', 'delivered', 'deadLettered', 'superseded', 'undelivered')),
    attempts      integer     NOT NULL DEFAULT 0,
    nextAttemptAt timestamptz NOT NULL,
    -- Fencing number of the notifier that claimed the row, and the end of its lease.
    leaseEpoch    bigint,
    leaseUntil    timestamptz,
    lastError     text,
    createdAt     timestamptz NOT NULL,
    -- When the state changed from pending.
    settledAt     timestamptz,
    -- Set before a message about several alerts is sent, and cleared with settledAt. A retry sends the same alerts under the same id, so that
    -- the receiver can recognize the message. Null for a message about one alert.
    messageId     text,
    PRIMARY KEY (alertId, receiver, seq),
    FOREIGN KEY (alertId, seq) REFERENCES alertTransitions
);

CREATE INDEX notifications_pending ON notifications (nextAttemptAt) WHERE state = 'pending';
CREATE UNIQUE INDEX notifications_once ON notifications (alertId, receiver) WHERE kind = 'firing';

COMMENT ON TABLE notifications IS 'One row per transition and receiver that is to be notified of it.';

CREATE TABLE notificationAttempts (
    notificationAttemptId bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    alertId               uuid        NOT NULL,
    receiver              text        NOT NULL,
    seq                   integer     NOT NULL,
    -- 'delivered', 'retry', 'deadLettered' or 'undelivered'.
    result                text        NOT NULL,
    attemptedAt           timestamptz NOT NULL,
    -- The HTTP status; null if there was no response.
    status                integer,
    latencyMs             integer     NOT NULL,
    -- The beginning of the response, without secrets.
    responsePrefix        text,
    error                 text,
    -- Identifies a message about several alerts; null for a message about one alert.
    messageId             text
);

CREATE INDEX notificationAttempts_alert ON notificationAttempts (alertId, notificationAttemptId);
-- The rate limit of a receiver.
CREATE INDEX notificationAttempts_receiver ON notificationAttempts (receiver, attemptedAt);

COMMENT ON TABLE notificationAttempts IS 'One row per attempt to deliver a notification.';

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
    -- All must match: [{"name": "alertname", "value": "ProviderOutage", "isEqual": true}, …].
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

CREATE TABLE alertMarks (
    alertId  uuid        PRIMARY KEY,
    verdict  text        NOT NULL CHECK (verdict IN ('real', 'noise')),
    author   text        NOT NULL,
    markedAt timestamptz NOT NULL
);

COMMENT ON TABLE alertMarks IS 'Whether an alert was worth the interruption. The last mark of an alert replaces earlier ones.';

CREATE TABLE alertBaselineDays (
    rule            text        NOT NULL,
    ruleVersion     text        NOT NULL,
    stratum         jsonb       NOT NULL,
    -- A complete day (UTC). One without attempts has a row with an empty stratum.
    day             date        NOT NULL,
    -- Of each of its 24 hours: attempts, and failed attempts that the rule counts.
    hourAttempts    bigint[]    NOT NULL,
    hourBad         bigint[]    NOT NULL,
    excludedMinutes integer     NOT NULL,
    -- Days stored before an import of attempts are counted again.
    storedAt        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (rule, ruleVersion, day, stratum)
);

COMMENT ON TABLE alertBaselineDays IS 'Attempts and failures per hour of the days that baselines are computed from: a cache of the rollups.';

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

CREATE TABLE alertAcceptances (
    acceptanceId  uuid             PRIMARY KEY,
    alertId       uuid             NOT NULL,
    rule          text COLLATE "C" NOT NULL,
    groupKey      text COLLATE "C" NOT NULL,
    groupLabels   jsonb            NOT NULL,
    author        text             NOT NULL,
    reason        text             NOT NULL,
    acceptedAt    timestamptz      NOT NULL,
    -- The first minute that the acceptance applies to, and the level: the reasons that count, and the expected share of failures of each
    -- stratum. The evaluator sets both when it first applies the acceptance.
    effectiveFrom timestamptz,
    level         jsonb,
    -- When the acceptance was withdrawn, by whom, and the first minute that it no longer applies to.
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
