import AlertRules
import Foundation
import PushContract

/// Makes episodes of built-in alerts. They have no counts of attempts: their evidence is the time since which something is missing.
enum BuiltInEpisode {
    static func dataGap(since beat: Timestamp, now: Timestamp) -> AlertEpisode {
        let since = Minute(beat) + 1
        let at = since.timestamp.rfc3339
        return episode(
            .dataGap,
            severity: .page,
            labels: [:],
            since: since,
            now: now,
            summary: "No instance that ingests or sends has reported since \(since)",
            meaning:
                "Pushes are probably not sent, and their outcomes are not recorded. All other alerts are held as they are: they neither "
                + "fire nor resolve.",
            action: "Find out whether the ingesting and sending instances run and reach the database; restart them.",
            sql: "SELECT minute, count(*) AS writers FROM writerHeartbeats WHERE minute >= timestamptz '\(at)' - interval '1 hour' "
                + "GROUP BY 1 ORDER BY 1;"
        )
    }

    /// The same for the one who is woken: what alerts need to know is missing.
    static func unwritten(since oldest: Timestamp, now: Timestamp) -> AlertEpisode {
        let since = Minute(oldest)
        let at = since.timestamp.rfc3339
        return episode(
            .dataGap,
            severity: .page,
            labels: [:],
            since: since,
            now: now,
            summary: "An instance holds outcomes since \(since) that it cannot store",
            meaning:
                "Attempts were made and are not in the database yet. Other alerts wait for them, ten minutes at most: they fire late, and what is "
                + "held longer is missing in them.",
            action: "Find out why that instance cannot write: its connections, its locks, the disk of the database.",
            sql: "SELECT minute, writer, reportedAt, uncommittedSince FROM writerHeartbeats WHERE minute >= timestamptz '\(at)' - "
                + "interval '10 minutes' AND uncommittedSince IS NOT NULL ORDER BY minute;"
        )
    }

    static func deliveryParked(_ trouble: ReceiverTrouble, now: Timestamp) -> AlertEpisode {
        let messages = trouble.parked == 1 ? "a message" : "\(trouble.parked) messages"
        let name = trouble.receiver.replacing("'", with: "''")
        return episode(
            .deliveryParked,
            severity: trouble.severity,
            labels: ["receiver": trouble.receiver],
            since: Minute(trouble.parkedAt),
            now: now,
            summary: "Receiver \(trouble.receiver) refused \(messages): \(trouble.lastError ?? "no reason given")",
            meaning: "Whoever is told through \(trouble.receiver) was not told of an alert, and will not be told of the next one.",
            action: "Look at the alerts page for what was refused, and repair the receiver's address or secret in alerts/receivers.yml.",
            sql: "SELECT settledAt, kind, lastError, episodeId FROM alertOutbox WHERE receiver = '\(name)' AND state = 'parked' ORDER BY 1;"
        )
    }

    private static func episode(
        _ alert: BuiltInAlert,
        severity: Severity,
        labels: [String: String],
        since: Minute,
        now: Timestamp,
        summary: String,
        meaning: String,
        action: String,
        sql: String
    ) -> AlertEpisode {
        let window = WindowCounts(first: since, minutes: max(1, Minute(now) - since), counts: AttemptCounts())
        return AlertEpisode(
            id: UUID(),
            rule: alert.rawValue,
            ruleVersion: BuiltInAlert.version,
            group: GroupKey(),
            labels: labels.merging(["alertname": alert.rawValue, "severity": severity.rawValue]) { $1 },
            severity: severity,
            state: .firing,
            startsAt: since.timestamp,
            firedAt: max(Minute(now), since).timestamp,
            detectedLateBySeconds: 0,
            evidence: Evidence(
                definition: BuiltInAlert.version,
                level: .threshold,
                threshold: Fraction(0, 1),
                observed: window,
                worst: window
            ),
            contributors: [],
            reproduceSQL: sql,
            annotations: ["summary": summary, "meaning": meaning, "action": action, "runbook": alert.runbook],
            revised: false
        )
    }
}

extension AlertEpisode {
    /// What there is at most one open episode of, within a rule: the group, or the receiver a built-in alert is about.
    var key: String {
        guard rule == BuiltInAlert.deliveryParked.rawValue, let receiver = labels["receiver"] else { return group.description }
        return "receiver=\(receiver)"
    }
}
