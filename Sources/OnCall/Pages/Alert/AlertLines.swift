import AlertRules
import Alerting
import PushContract

/// Who has the failures.
struct ContributorRow {
    let name: String
    let counts: String
    let share: String
    let excess: String
    let lift: String?

    init(_ contributor: Contributor) {
        name = "\(contributor.dimension)=\(contributor.value)"
        counts =
            "\(NumberText.count(contributor.bad)) of \(NumberText.count(contributor.attempts))"
            + (contributor.isEstimated == true ? " (estimated)" : "")
        share = NumberText.share(contributor.bad, of: contributor.attempts)
        excess = Fraction.percent((contributor.excessShare * 100).rounded() / 100)
        lift = contributor.liftText
    }
}

/// Somebody who failed.
struct PersonRow {
    let uid: String
    let path: String
    let when: String
    let whenAttribute: String
    let why: String
    let detail: String

    init(_ person: AffectedPerson, now: Timestamp) {
        uid = person.uid
        path = PersonPath.path(uid: person.uid)
        when = ClockText.moment(person.at, now: now)
        whenAttribute = person.at.rfc3339
        why = person.reason
        detail = [person.code, person.appVersion.map { "app \($0)" }].compactMap { $0 }.joined(separator: ", ")
    }
}

/// The state of a notification.
struct NotificationRow {
    let receiver: String
    let kind: String
    let state: String
    let error: String?

    init(_ notification: NotificationRecord, now: Timestamp) {
        receiver = notification.receiver
        kind = notification.kind
        error = notification.lastError
        state =
            switch notification.state {
            case "pending":
                notification.attempts == 0
                    ? "waiting" : "tried \(notification.attempts) times, next \(DurationText.ago(notification.nextAttemptAt, now: now))"
            case "deadLettered", "undelivered": Self.words(notification.state)
            case "superseded": "superseded by a later notification"
            default: notification.attempts > 1 ? "\(notification.state) at try \(notification.attempts)" : notification.state
            }
    }

    /// The state of a message that was not delivered.
    static func words(_ state: String) -> String {
        switch state {
        case "pending": "waiting"
        case "deadLettered": "refused for good"
        case "undelivered": "given up"
        default: state
        }
    }
}

/// One try at delivering.
struct NotificationAttemptRow {
    let when: String
    let whenAttribute: String
    let receiver: String
    let kind: String
    let result: String
    let latency: String

    init(_ record: NotificationAttemptRecord, now: Timestamp) {
        when = ClockText.exact(record.attemptedAt, now: now)
        whenAttribute = record.attemptedAt.rfc3339
        receiver = record.receiver
        kind = record.kind
        result = record.result + (record.status.map { " (\($0))" } ?? "") + (record.error.map { ": \($0)" } ?? "")
        latency = "\(NumberText.count(record.latencyMs)) ms"
    }
}
