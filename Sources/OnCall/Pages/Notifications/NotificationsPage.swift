import PushContract

/// The page of deliveries as its template sees it.
struct NotificationsPage {
    struct NotificationAttemptRow {
        let when: String
        let whenAttribute: String
        let receiver: String
        let alert: String
        let path: String
        let result: String
        let isBad: Bool
        let detail: String?
    }

    struct PendingNotificationRow {
        let receiver: String
        let alert: String
        let path: String
        let state: String
        let next: String
        let detail: String?
    }

    let frame: PageFrame
    let headline: String
    let open: [PendingNotificationRow]
    let hasOpen: Bool
    let tries: [NotificationAttemptRow]
    let hasTries: Bool

    init(_ data: NotificationsData, reader: String, now: Timestamp) {
        let deadLettered = data.open.filter { $0.state == "deadLettered" }.count
        let waiting = data.open.count - deadLettered
        frame = PageFrame(title: "Deliveries · Pushwatch", state: deadLettered > 0 ? .alarmed : .calm, person: reader, now: now)
        headline = data.open.isEmpty ? "Every alert was delivered" : "\(waiting) waiting, \(deadLettered) refused for good"
        open = data.open.map { open in
            PendingNotificationRow(
                receiver: open.receiver,
                alert: "\(open.rule), \(open.kind)",
                path: "/oncall/alerts/\(open.alertId)",
                state: open.state,
                next: open.state == "deadLettered" ? "none" : DurationText.ago(open.nextAttemptAt, now: now),
                detail: open.error
            )
        }
        hasOpen = !open.isEmpty
        tries = data.tries.map { attempt in
            NotificationAttemptRow(
                when: ClockText.moment(attempt.attemptedAt, now: now),
                whenAttribute: attempt.attemptedAt.rfc3339,
                receiver: attempt.receiver,
                alert: attempt.rule ?? attempt.alertId,
                path: "/oncall/alerts/\(attempt.alertId)",
                result: [attempt.result, attempt.status.map { "HTTP \($0)" }, "\(NumberText.count(attempt.latencyMs)) ms"]
                    .compactMap { $0 }.joined(separator: ", "),
                isBad: attempt.result != "delivered",
                detail: attempt.error
            )
        }
        hasTries = !tries.isEmpty
    }
}
