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
        let lost = data.refused + data.givenUp
        frame = PageFrame(title: "Deliveries · Pushwatch", state: lost > 0 ? .alarmed : .calm, person: reader, now: now)
        headline = Self.headline(data)
        open = data.open.map { open in
            PendingNotificationRow(
                receiver: open.receiver,
                alert: "\(open.rule), \(open.kind)",
                path: "/oncall/alerts/\(open.alertId)",
                state: NotificationRow.words(open.state),
                next: open.state != "pending" ? "none" : DurationText.ago(open.nextAttemptAt, now: now),
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

    /// What was lost earlier than a day ago is history: the page of its alert shows it.
    private static func headline(_ data: NotificationsData) -> String {
        guard data.waiting + data.refused + data.givenUp > 0 else { return "Every alert of the last day was delivered" }
        return "\(NumberText.count(data.waiting)) waiting, \(NumberText.count(data.refused)) refused for good, "
            + "\(NumberText.count(data.givenUp)) given up in the last day"
    }
}
