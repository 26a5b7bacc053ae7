import AlertRules
import Attempts
import Foundation
import PushContract

/// Makes the alerts about Pushwatch itself. They have no counts of attempts: their evidence is the time since which something is missing.
enum BuiltInAlertFactory {
    static func dataGap(since heartbeat: Timestamp, now: Timestamp) -> Alert {
        let since = Minute(heartbeat) + 1
        let at = since.timestamp.rfc3339
        return alert(
            .dataGap,
            severity: .page,
            labels: [:],
            since: since,
            now: now,
            summary: "No instance that ingests or sends has reported since \(since)",
            meaning:
                "Pushes are probably not sent, and their outcomes are not recorded. All other alerts keep their state: they neither "
                + "fire nor resolve.",
            action: "Find out whether the ingesting and sending instances run and reach the database; restart them.",
            sql: "SELECT minute, count(*) AS writers FROM writerHeartbeats WHERE minute >= timestamptz '\(at)' - interval '1 hour' "
                + "GROUP BY 1 ORDER BY 1;"
        )
    }

    /// The same for on-call: data that alerts need are missing.
    static func unwritten(since oldest: Timestamp, now: Timestamp) -> Alert {
        let since = Minute(oldest)
        let at = since.timestamp.rfc3339
        return alert(
            .dataGap,
            severity: .page,
            labels: [:],
            since: since,
            now: now,
            summary: "An instance has uncommitted outcomes since \(since) that it cannot store",
            meaning:
                "Attempts were made and are not in the database yet. Other alerts wait for them, ten minutes at most: they fire late, "
                + "and after that without these attempts.",
            action: "Find out why that instance cannot write: its connections, its locks, the disk of the database.",
            sql: "SELECT minute, writer, reportedAt, uncommittedSince FROM writerHeartbeats WHERE minute >= timestamptz '\(at)' - "
                + "interval '10 minutes' AND uncommittedSince IS NOT NULL ORDER BY minute;"
        )
    }

    static func notificationsDeadLettered(_ failure: ReceiverFailure, now: Timestamp) -> Alert {
        let messages = failure.deadLettered == 1 ? "a notification" : "\(failure.deadLettered) notifications"
        let name = failure.receiver.replacing("'", with: "''")
        return alert(
            .notificationsDeadLettered,
            severity: failure.severity,
            labels: ["receiver": failure.receiver],
            since: Minute(failure.deadLetteredAt),
            now: now,
            summary: "Receiver \(failure.receiver) rejected \(messages): \(failure.lastError ?? "no reason given")",
            meaning: "The people behind \(failure.receiver) were not notified of an alert, and will not be notified of the next one.",
            action: "Look at the page Notifications for what was rejected, and fix the receiver's address or secret in "
                + "alerts/receivers.yml.",
            sql:
                "SELECT settledAt, kind, lastError, alertId FROM notifications "
                + "WHERE receiver = '\(name)' AND state = 'deadLettered' ORDER BY 1;"
        )
    }

    static func receiverUnreachable(_ outage: ReceiverOutage, _ severity: Severity, now: Timestamp) -> Alert {
        let messages = outage.waiting == 1 ? "a notification waits" : "\(outage.waiting) notifications wait"
        let name = outage.receiver.replacing("'", with: "''")
        return alert(
            .receiverUnreachable,
            severity: severity,
            labels: ["receiver": outage.receiver],
            since: Minute(outage.waitingSince),
            now: now,
            summary: "Receiver \(outage.receiver) does not accept notifications, \(messages): \(outage.lastError ?? "no answer")",
            meaning: severity == .page
                ? "The people behind \(outage.receiver) have not been notified of a page. It is retried until the receiver accepts it."
                : "The people behind \(outage.receiver) are notified late. Everything is retried until the receiver accepts it.",
            action: (severity == .page ? "Notify them another way of what fires now. " : "")
                + "Look at the page Notifications for what waits; check the receiver's address, its network and its configuration in "
                + "alerts/receivers.yml.",
            sql:
                "SELECT createdAt, kind, attempts, nextAttemptAt, lastError, alertId FROM notifications "
                + "WHERE receiver = '\(name)' AND state = 'pending' ORDER BY 1;"
        )
    }

    static func labelsFolded(_ author: FoldedLabelStore.Author, now: Timestamp) -> Alert {
        let name = author.name.replacing("'", with: "''")
        let labels = author.labels.joined(separator: ", ")
        return alert(
            .labelsFolded,
            severity: .ticket,
            labels: ["key": author.name],
            since: Minute(author.foldedAt),
            now: now,
            summary: "\(author.name) reports more values of \(labels) than are counted apart",
            meaning:
                "Attempts with further values are stored as they are, and counted as `other`: rules and pages see those values as one. "
                + "A client probably writes something variable, such as a build or a user, into the field.",
            action: "Find out what the owner of the key writes into \(labels); if the values are right, raise attempts.labels.",
            sql: "SELECT day, label, attempts, foldedAt FROM foldedLabelDays WHERE author = '\(name)' ORDER BY day, label;"
        )
    }

    /// The rules that the alert names.
    static func rulesNotEvaluated(namedBy alert: Alert) -> Set<String> {
        Set((alert.labels["rules"] ?? "").split(separator: ",").map(String.init))
    }

    static func rulesNotEvaluated(_ rules: [String], severity: Severity, since: Minute, now: Timestamp) -> Alert {
        let named = rules.prefix(10).joined(separator: ", ")
        return alert(
            .rulesNotEvaluated,
            severity: severity,
            labels: ["rules": rules.sorted().joined(separator: ",")],
            since: since,
            now: now,
            summary: "Not evaluated since \(since): \(named)" + (rules.count > 10 ? " and \(rules.count - 10) more rules" : ""),
            meaning: "The alerts of these rules keep their state: they neither fire nor resolve.",
            action: "Look for \"a rule could not be evaluated\" in the log of the instances with the role alert: it has the reason.",
            sql: "SELECT rule, asOf, evaluatedAt FROM alertRuleProgress ORDER BY asOf, rule;"
        )
    }

    private static func alert(
        _ kind: BuiltInAlert,
        severity: Severity,
        labels: [String: String],
        since: Minute,
        now: Timestamp,
        summary: String,
        meaning: String,
        action: String,
        sql: String
    ) -> Alert {
        let window = WindowCounts(first: since, minutes: max(1, Minute(now) - since), counts: AttemptCounts())
        return Alert(
            id: UUID(),
            rule: kind.rawValue,
            ruleVersion: BuiltInAlert.version,
            group: GroupKey(),
            labels: labels.merging(["alertname": kind.rawValue, "severity": severity.rawValue]) { $1 },
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
            annotations: ["summary": summary, "meaning": meaning, "action": action, "runbook": kind.runbook],
            revised: false
        )
    }
}

extension Alert {
    /// Unique among the open alerts of a rule: the group; of a built-in alert, the receiver and severity, or the API key.
    var key: String {
        switch rule {
        case BuiltInAlert.notificationsDeadLettered.rawValue, BuiltInAlert.receiverUnreachable.rawValue:
            labels["receiver"].map { "receiver=\($0),severity=\(severity)" } ?? group.description
        case BuiltInAlert.labelsFolded.rawValue: labels["key"].map { "key=\($0)" } ?? group.description
        default: group.description
        }
    }
}
